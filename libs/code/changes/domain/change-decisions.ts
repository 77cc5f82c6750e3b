import type { Review } from '#lib/repositories/domain';
import type { ChangeState } from './change-state.js';

/** A red proof, requested changes or a conflict sends a change back to its agent. */
export type Return = 'red' | 'changes_requested' | 'conflict';

export interface Revisions {
  /** How often it went back since a person last had a say. */
  unattended: number;
  /** The repository's limit. */
  max: number;
}

/**
 * The state after a change goes back. The words of a person always count: they start the count
 * again. Without a person, more than `max` returns fail the change.
 */
export function stateAfterReturn(
  { unattended, max }: Revisions,
  byPerson: boolean,
): { to: Extract<ChangeState, 'WORKING' | 'FAILED'>; unattended: number } {
  if (byPerson) return { to: 'WORKING', unattended: 0 };
  return { to: unattended >= max ? 'FAILED' : 'WORKING', unattended: unattended + 1 };
}

/** The state of a change whose proof is green. */
export function stateAfterProof(review: Review): 'IN_REVIEW' | 'APPROVED' {
  return review === 'none' ? 'APPROVED' : 'IN_REVIEW';
}

export interface Approvals {
  person: boolean;
  agent: boolean;
}

/** A person can approve in place of an agent, but not an agent in place of a person. */
export function isApproved(review: Review, { person, agent }: Approvals): boolean {
  switch (review) {
    case 'none':
      return true;
    case 'person':
      return person;
    case 'agent':
      return agent || person;
    case 'both':
      return agent && person;
  }
}

/** In seconds, of a step that a host could not finish. */
const STEP_BACKOFF = { first: 15, most: 300 };
/** If the attempt with this number or a later one fails, a person must ask again. */
export const MAX_STEP_ATTEMPTS = 5;

/** @param attempts before this one */
export function stepDelaySeconds(attempts: number): number {
  return Math.min(STEP_BACKOFF.first * 2 ** attempts, STEP_BACKOFF.most);
}
