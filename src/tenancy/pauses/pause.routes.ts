import { HttpCode, Post, type Type } from '@nestjs/common';
import { ApiBody, ApiOkResponse } from '@nestjs/swagger';
import { AdminRoute } from '../../admin/admin-route.js';
import { JsonBody } from '../../api/validation/json-body.js';
import { type Actor, ActorOfRequest } from '../../audit/actor.js';
import { nounOf } from '../tenant.js';
import type { PausedKind } from './pause.entity.js';
import { PauseRequest, ResumeRequest } from './pause.request.js';
import type { PausesService } from './pauses.service.js';

/** What distinguishes the routes that pause providers, operators and games. */
export interface PauseRoutes<Answer extends object> {
  readonly kind: PausedKind;
  /** The kind in the names of operations, and with its article. */
  readonly name: string;
  readonly phrase: string;
  /** The path parameter with the id, and the decorator that reads it. */
  readonly parameter: string;
  readonly Id: () => ParameterDecorator;
  /** What a pause refuses. */
  readonly pauseEffect: string;
  readonly answer: Type<Answer>;
}

/** Creates a class with the routes that begin and end a pause. Contract, section 9, "Health and pauses". */
export function pauseRoutes<Answer extends object>(routes: PauseRoutes<Answer>) {
  const { kind, name, phrase, parameter, Id, pauseEffect, answer } = routes;
  const noun = nounOf(kind);
  const target = `${noun}:{${parameter}}`;

  abstract class PauseRoutesController {
    abstract readonly pauses: PausesService;
    abstract find(id: string): Promise<Answer>;

    @Post(`:${parameter}/pause`)
    @HttpCode(200)
    @AdminRoute(`pause${name}`, {
      role: 'operations',
      summary: `Pause ${phrase}`,
      description:
        `${pauseEffect} Replays, WIN, ROLLBACK and balance continue. Replaces an earlier pause. ` +
        'Takes effect on every instance within a second.',
      audited: [`${noun}.pause`, target],
      errors: ['NOT_FOUND'],
    })
    @ApiBody({
      type: PauseRequest,
      examples: { maintenance: { value: { reason: 'the wallet is being moved' } } },
    })
    @ApiOkResponse({ type: answer })
    async pause(
      @ActorOfRequest() actor: Actor,
      @Id() id: string,
      @JsonBody() request: PauseRequest,
    ): Promise<Answer> {
      await this.pauses.pause(actor, kind, id, request);
      return this.find(id);
    }

    @Post(`:${parameter}/resume`)
    @HttpCode(200)
    @AdminRoute(`resume${name}`, {
      role: 'operations',
      summary: `End the pause of ${phrase}`,
      description: 'Without effect if it is not paused. Takes effect on every instance within a second.',
      audited: [`${noun}.resume`, target],
      errors: ['NOT_FOUND'],
    })
    @ApiBody({ type: ResumeRequest, required: false })
    @ApiOkResponse({ type: answer })
    async resume(
      @ActorOfRequest() actor: Actor,
      @Id() id: string,
      @JsonBody() request: ResumeRequest,
    ): Promise<Answer> {
      await this.pauses.resume(actor, kind, id, request);
      return this.find(id);
    }
  }
  return PauseRoutesController;
}
