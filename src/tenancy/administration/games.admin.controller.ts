import { Controller, Get, HttpCode, Param, Post, Put, type StreamableFile } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AdminRoute } from '../../admin/admin-route.js';
import { type Actor, ActorOfRequest } from '../../audit/actor.js';
import { answerOf, answersOf } from '../../api/answer.js';
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

const TARGET = 'game:{gameId}';

/** Contract, section 7. */
@ApiTags('Games')
@Controller('v1/admin/games')
export class GamesAdminController {
  constructor(
    private readonly games: GameAdministration,
    private readonly pauses: PausesService,
  ) {}

  @Put(':gameId')
  @AdminRoute('putGame', {
    role: 'admin',
    summary: 'Create or replace a game',
    description:
      'Replaces the whole game: an absent field is reset to its default. Takes effect on every instance within a second.',
    body: PutGameRequest,
    audited: ['game.replace', TARGET],
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

  @Post(':gameId/pause')
  @HttpCode(200)
  @AdminRoute('pauseGame', {
    role: 'operations',
    summary: 'Pause a game',
    description: `Its launches and BETs are 503 \`GAME_NOT_CONFIGURED\`. ${PAUSE_DESCRIPTION}`,
    audited: ['game.pause', TARGET],
    errors: ['NOT_FOUND'],
  })
  @ApiBody({ type: PauseRequest, examples: PAUSE_EXAMPLES })
  @ApiOkResponse({ type: GameResponse })
  async pause(
    @ActorOfRequest() actor: Actor,
    @IdentifierParam('gameId') gameId: string,
    @JsonBody() request: PauseRequest,
  ): Promise<GameResponse> {
    await this.pauses.pause(actor, 'GAME', gameId, request);
    return this.find(gameId);
  }

  @Post(':gameId/resume')
  @HttpCode(200)
  @AdminRoute('resumeGame', {
    role: 'operations',
    summary: 'End the pause of a game',
    description: RESUME_DESCRIPTION,
    audited: ['game.resume', TARGET],
    errors: ['NOT_FOUND'],
  })
  @ApiBody({ type: ResumeRequest, required: false })
  @ApiOkResponse({ type: GameResponse })
  async resume(
    @ActorOfRequest() actor: Actor,
    @IdentifierParam('gameId') gameId: string,
    @JsonBody() request: ResumeRequest,
  ): Promise<GameResponse> {
    await this.pauses.resume(actor, 'GAME', gameId, request);
    return this.find(gameId);
  }
}
