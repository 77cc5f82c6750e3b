import { COORDINATOR } from '#lib/kernel';
import type { CommandRequest } from './commands.js';

/** The coordinator's request to tasks: stop for a budget or a provider limit, or go on (null). */
export function pauseRequest(
  what: 'budget' | 'provider',
  id: string | null,
  reason: string,
): CommandRequest {
  if (id === null) return { actor: COORDINATOR };
  return {
    actor: { kind: 'coordinator', id: `${what}:${id}` },
    reason,
    pausedFor: { what, id },
  };
}
