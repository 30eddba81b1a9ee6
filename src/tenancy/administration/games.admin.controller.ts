import { Controller, Get, HttpCode, Param, Post, Put, type StreamableFile } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { RequiresRole } from '../../admin/requires-role.js';
import { type Actor, ActorOfRequest } from '../../audit/actor.js';
import { Audited } from '../../audit/audited-route.js';
import { answerOf, answersOf } from '../../api/answer.js';
import { ApiErrors } from '../../api/api-errors.js';
import { JsonBody } from '../../api/validation/json-body.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../../api/lists/list.js';
import { ValidQuery } from '../../api/validation/query.js';
import { GameAdministration } from './game-administration.js';
import { GAME_COLUMNS, GameListResponse, GameResponse, PutGameRequest } from './game.request.js';
import { ListQuery } from '../../api/lists/page.js';
import {
  PAUSE_DESCRIPTION,
  PAUSE_EXAMPLES,
  PauseRequest,
  RESUME_DESCRIPTION,
  ResumeRequest,
} from '../pauses/pause.request.js';
import { PausesService } from '../pauses/pauses.service.js';
import { IdentifierParam } from '../../api/validation/path.js';

/** Contract, section 7. */
@ApiTags('Games')
@Controller('v1/admin/games')
export class GamesAdminController {
  constructor(
    private readonly games: GameAdministration,
    private readonly pauses: PausesService,
  ) {}

  @Put(':gameId')
  @RequiresRole('admin')
  @Audited('game.replace', 'game:{gameId}')
  @ApiOperation({
    operationId: 'putGame',
    summary: 'Create or replace a game',
    description:
      'Replaces the whole game: an absent field is reset to its default. Takes effect on every instance within a second.',
  })
  @ApiBody({ type: PutGameRequest })
  @ApiOkResponse({ type: GameResponse, description: 'created or replaced' })
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN')
  async put(
    @ActorOfRequest() actor: Actor,
    @IdentifierParam('gameId') gameId: string,
    @JsonBody() request: PutGameRequest,
  ): Promise<GameResponse> {
    return answerOf(GameResponse, await this.games.put(actor, gameId, request));
  }

  @Get()
  @RequiresRole('support')
  @ApiOperation({ operationId: 'listGames', summary: 'List the games, ordered by gameId' })
  @ApiList(GameListResponse, ListQuery, GAME_COLUMNS)
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED')
  list(
    @ValidQuery() query: ListQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<GameListResponse | StreamableFile> {
    const read = async (page: ListQuery) => answersOf(GameResponse, await this.games.list(page));
    return answerList(format, { query, name: 'games', columns: GAME_COLUMNS, read });
  }

  @Get(':gameId')
  @RequiresRole('support')
  @ApiOperation({ operationId: 'getGame', summary: 'Read a game' })
  @ApiOkResponse({ type: GameResponse })
  @ApiErrors('UNAUTHORIZED', 'NOT_FOUND')
  async find(@Param('gameId') gameId: string): Promise<GameResponse> {
    return answerOf(GameResponse, await this.games.find(gameId));
  }

  @Post(':gameId/pause')
  @HttpCode(200)
  @RequiresRole('operations')
  @Audited('game.pause', 'game:{gameId}')
  @ApiOperation({
    operationId: 'pauseGame',
    summary: 'Pause a game',
    description: 'Its launches and BETs are 503 `GAME_NOT_CONFIGURED`. ' + PAUSE_DESCRIPTION,
  })
  @ApiBody({ type: PauseRequest, examples: PAUSE_EXAMPLES })
  @ApiOkResponse({ type: GameResponse })
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND')
  async pause(
    @ActorOfRequest() actor: Actor,
    @IdentifierParam('gameId') gameId: string,
    @JsonBody() request: PauseRequest,
  ): Promise<GameResponse> {
    await this.pauses.pause(actor, 'GAME', gameId, request);
    return answerOf(GameResponse, await this.games.find(gameId));
  }

  @Post(':gameId/resume')
  @HttpCode(200)
  @RequiresRole('operations')
  @Audited('game.resume', 'game:{gameId}')
  @ApiOperation({
    operationId: 'resumeGame',
    summary: 'End the pause of a game',
    description: RESUME_DESCRIPTION,
  })
  @ApiBody({ type: ResumeRequest, required: false })
  @ApiOkResponse({ type: GameResponse })
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND')
  async resume(
    @ActorOfRequest() actor: Actor,
    @IdentifierParam('gameId') gameId: string,
    @JsonBody() request: ResumeRequest,
  ): Promise<GameResponse> {
    await this.pauses.resume(actor, 'GAME', gameId, request);
    return answerOf(GameResponse, await this.games.find(gameId));
  }
}
