import { Controller, Get, Param, Put, type StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AdminRoute } from '../../admin/admin-route.js';
import { type Actor, ActorOfRequest } from '../../audit/actor.js';
import { answerOf, answersOf } from '../../api/answer.js';
import { JsonBody } from '../../api/validation/json-body.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../../api/lists/list.js';
import { ValidQuery } from '../../api/validation/query.js';
import { GameAdministration } from './game-administration.js';
import { PutGameRequest } from './game.request.js';
import { GAME_COLUMNS, GameListResponse, GameResponse } from './game.response.js';
import { ListQuery } from '../../api/lists/page.js';
import { pauseRoutes } from '../pauses/pause.routes.js';
import { PausesService } from '../pauses/pauses.service.js';
import { IdentifierParam } from '../../api/validation/path.js';

const Routes = pauseRoutes({
  kind: 'GAME',
  name: 'Game',
  phrase: 'a game',
  parameter: 'gameId',
  Id: () => IdentifierParam('gameId'),
  pauseEffect: 'Its launches and BETs are 503 `GAME_NOT_CONFIGURED`.',
  answer: GameResponse,
});

/** Contract, section 7. */
@ApiTags('Games')
@Controller('v1/admin/games')
export class GamesAdminController extends Routes {
  constructor(
    private readonly games: GameAdministration,
    readonly pauses: PausesService,
  ) {
    super();
  }

  @Put(':gameId')
  @AdminRoute('putGame', {
    role: 'admin',
    summary: 'Create or replace a game',
    description:
      'Replaces the whole game: an absent field is reset to its default. Takes effect on every instance within a second.',
    body: PutGameRequest,
    audited: ['game.replace', 'game:{gameId}'],
  })
  @ApiOkResponse({ type: GameResponse, description: 'created or replaced' })
  async put(
    @ActorOfRequest() actor: Actor,
    @IdentifierParam('gameId') gameId: string,
    @JsonBody() request: PutGameRequest,
  ): Promise<GameResponse> {
    return answerOf(GameResponse, await this.games.put(actor, gameId, request));
  }

  @Get()
  @AdminRoute('listGames', {
    role: 'auditor',
    summary: 'List the games, ordered by gameId',
    errors: ['INVALID_REQUEST'],
  })
  @ApiList(GameListResponse, ListQuery, GAME_COLUMNS)
  list(
    @ValidQuery() query: ListQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<GameListResponse | StreamableFile> {
    const read = async (page: ListQuery) => answersOf(GameResponse, await this.games.list(page));
    return answerList(format, { query, name: 'games', columns: GAME_COLUMNS, read });
  }

  @Get(':gameId')
  @AdminRoute('getGame', { role: 'auditor', summary: 'Read a game', errors: ['NOT_FOUND'] })
  @ApiOkResponse({ type: GameResponse })
  async find(@Param('gameId') gameId: string): Promise<GameResponse> {
    return answerOf(GameResponse, await this.games.find(gameId));
  }
}
