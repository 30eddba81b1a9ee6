import { Controller, Get, Param, Put, type StreamableFile } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { RequiresRole } from '../../admin/requires-role.js';
import { type Actor, ActorOfRequest } from '../../audit/actor.js';
import { Audited } from '../../audit/audited-route.js';
import { answerOf, answersOf } from '../../http/answer.js';
import { ApiErrors } from '../../openapi/api-errors.js';
import { JsonBody } from '../../http/validation/json-body.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../../http/lists/list.js';
import { ValidQuery } from '../../http/validation/query.js';
import { GameAdministration } from './game-administration.js';
import { GAME_COLUMNS, GameListResponse, GameResponse, PutGameRequest } from './game.request.js';
import { ListQuery } from '../../http/lists/page.js';
import { IdentifierParam } from '../../http/validation/path.js';

/** Contract, section 7, "Games". */
@ApiTags('Games')
@Controller('v1/admin/games')
export class GamesAdminController {
  constructor(private readonly games: GameAdministration) {}

  @Put(':gameId')
  @RequiresRole('admin')
  @Audited('game.replace', 'game:{gameId}')
  @ApiOperation({
    summary: 'Create or replace a game',
    description:
      'The whole game: what is left out goes back to its default. Every instance obeys within a second.',
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
  @ApiOperation({ summary: 'List the games, ordered by gameId' })
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
  @ApiOperation({ summary: 'Read a game' })
  @ApiOkResponse({ type: GameResponse })
  @ApiErrors('UNAUTHORIZED', 'NOT_FOUND')
  async find(@Param('gameId') gameId: string): Promise<GameResponse> {
    return answerOf(GameResponse, await this.games.find(gameId));
  }
}
