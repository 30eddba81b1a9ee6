import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { AdmittedCaller, AdmittedRequest } from '../api/bounded-reads.js';

/** The person, tenant or command that acts, and its address. */
export interface Actor {
  /** `root` · `key:<id>` · `jwt:<subject>` · `operator:<tenant id>` · `command:<name>:<operating-system user>`. */
  readonly actor: string;
  /** An administrator's display name: the key's name, the token's subject, or `root`. */
  readonly name?: string;
  /**
   * For an administrator, the roles joined by `+`, or `none` if a token names none of our roles. For an operator,
   * `operator`; for a command, `command`.
   */
  readonly role: string;
  /** An administrator's roles as a list. */
  readonly roles?: readonly string[];
  /** When an administrator's key or token expires; undefined if it does not. */
  readonly expiresAt?: Date | undefined;
  /** The sender's address, according to `TRUST_PROXY`; a command has none. */
  readonly address?: string;
}

/** An authenticated request; the guard has set its actor. */
export interface ActingRequest extends AdmittedRequest {
  actor?: Actor;
}

/** Maximum length of an actor's identifier, in characters. A longer one is cut, so that no token can fill the log. */
const MAX_ACTOR_LENGTH = 256;

/** Sets the actor of a request, and its caller. Called by the guard that has authenticated it. */
export function actsAs(
  request: ActingRequest,
  { actor, ...rest }: Omit<Actor, 'address'>,
  isStillAdmitted: AdmittedCaller['isStillAdmitted'],
): Actor {
  const { ip: address = '' } = request;
  request.actor = { actor: actor.slice(0, MAX_ACTOR_LENGTH), ...rest, address };
  request.caller = { id: request.actor.actor, isStillAdmitted };
  return request.actor;
}

/** Passes the actor of the request to a handler's parameter. */
export const ActorOfRequest = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<ActingRequest>().actor,
);
