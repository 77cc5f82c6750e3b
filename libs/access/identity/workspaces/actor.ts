import { type Caller, DroverError } from '#lib/kernel';
import type { Actor, MemberDecision } from '../domain/member-rules.js';

/** @throws DroverError `wrong_token_kind` */
export function actorOf(caller: Caller): Actor {
  if (caller.kind === 'user') return caller;
  // A key is not its creator and cannot leave in the creator's place.
  if (caller.kind === 'api_key') return { userId: '', role: caller.role, scopes: caller.scopes };
  throw new DroverError('wrong_token_kind');
}

/** @throws DroverError `forbidden` or `last_owner` */
export function enforce(decision: MemberDecision): void {
  switch (decision.kind) {
    case 'allowed':
      return;
    case 'forbidden':
      throw new DroverError('forbidden', { detail: decision.detail });
    case 'last_owner':
      throw new DroverError('last_owner');
  }
}
