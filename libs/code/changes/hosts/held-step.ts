import { type AgentCaller, DroverError } from '#lib/kernel';
import type { ChangeRow, LockedChange } from '../store/changes.sql.js';
import type { ClaimedStep } from './steps.sql.js';

/** Names a step that a host has. */
export interface HeldStep {
  agent: AgentCaller;
  changeId: string;
  generation: number;
}

export function isHeld(
  change: LockedChange,
  { agent, generation }: HeldStep,
): change is LockedChange & ClaimedStep {
  return (
    change.step !== null &&
    change.step_agent_id === agent.agentId &&
    change.step_generation === generation
  );
}

/** @param change undefined: it does not exist */
export function staleStep(change: ChangeRow | undefined): DroverError {
  if (change === undefined) return new DroverError('change_not_found');
  const { state, step, step_generation: generation } = change;
  const now = step === null ? 'has no step now' : `has the step ${step} ${generation} now`;
  return new DroverError('stale_step', {
    detail: `The change is ${state} and ${now}.`,
    members: { current: state, step, generation },
  });
}
