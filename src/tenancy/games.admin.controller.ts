import { Controller, Get, HttpStatus, Param, Put, Res, type StreamableFile } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { RequiresRole } from '../admin/requires-role.js';
import { type Actor, ActorOfRequest } from '../audit/actor.js';
import { ApiErrors } from '../http/api-errors.js';
import { JsonBody } from '../http/json-body.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../http/list.js';
import { ValidQuery } from '../http/query.js';
import { GameAdministration } from './game-administration.js';
import { GAME_COLUMNS, GameListResponse, GameResponse, PutGameRequest } from './game.request.js';
import { PageQuery } from '../http/page.js';

/** Contract, section 7, "Games". */
@ApiTags('Administrators')
@Controller('v1/admin/games')
export class GamesAdminController {
  constructor(private readonly games: GameAdministration) {}

  @Put(':gameId')
  @RequiresRole('admin')
  @ApiOperation({
    summary: 'Create or replace a game',
    description:
      'The whole game: what is left out goes back to its default. Every instance obeys within a second.',
  })
  @ApiBody({ type: PutGameRequest })
  @ApiCreatedResponse({ type: GameResponse, description: 'created' })
  @ApiOkResponse({ type: GameResponse, description: 'replaced' })
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN', 'RATE_LIMITED')
  async put(
    @ActorOfRequest() actor: Actor,
    @Param('gameId') gameId: string,
    @JsonBody() request: PutGameRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<GameResponse> {
    const { game, created } = await this.games.put(actor, gameId, request);
    response.status(created ? HttpStatus.CREATED : HttpStatus.OK);
    return game;
  }

  @Get()
  @RequiresRole('support')
  @ApiOperation({ summary: 'List the games, ordered by gameId' })
  @ApiList(GameListResponse, PageQuery, GAME_COLUMNS)
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'RATE_LIMITED')
  list(
    @ValidQuery() query: PageQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<GameListResponse | StreamableFile> {
    const read = (page: PageQuery) => this.games.list(page);
    return answerList(format, { query, name: 'games', columns: GAME_COLUMNS, read });
  }

  @Get(':gameId')
  @RequiresRole('support')
  @ApiOperation({ summary: 'Read a game' })
  @ApiOkResponse({ type: GameResponse })
  @ApiErrors('UNAUTHORIZED', 'NOT_FOUND', 'RATE_LIMITED')
  find(@Param('gameId') gameId: string): Promise<GameResponse> {
    return this.games.find(gameId);
  }
}
