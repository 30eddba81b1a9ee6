import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

/** Who acts, and from where. */
export interface Actor {
  /** `root` · `key:<id>` · `jwt:<subject>` · `operator:<tenant id>` · `command:<name>`. */
  readonly actor: string;
  /** An administrator's name for people: the key's name, the token's subject. */
  readonly name?: string;
  /** The administrator's role, several joined by `+`, `none` where a token names none of ours; else `operator` or `command`. */
  readonly role: string;
  /** An administrator's roles, each by itself. */
  readonly roles?: readonly string[];
  /** Where the request came from, as `TRUST_PROXY` lets us believe; a command has none. */
  readonly address?: string;
}

/** A request whose sender is known: the guard that let it pass has put the actor there. */
export interface ActingRequest extends Request {
  actor?: Actor;
}

/** Longest name of an actor, in characters: a stranger's token must not fill the log. */
const LONGEST_NAME = 256;

/** Puts the actor on the request. To be called by the guard that has verified who it is. */
export function actsAs(request: ActingRequest, { actor, ...rest }: Omit<Actor, 'address'>): Actor {
  const { ip: address = '' } = request;
  request.actor = { actor: actor.slice(0, LONGEST_NAME), ...rest, address };
  return request.actor;
}

/** Who sent the request; for what `Audit` records. */
export const ActorOfRequest = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<ActingRequest>().actor,
);
