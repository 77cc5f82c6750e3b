/**
 * The states of a change and the legal transitions: the only such table. Each submission is proven,
 * also without acceptance commands: a host looks for parts that a change may not have.
 */
export const CHANGE_EDGES = {
  WORKING: ['PROVING', 'FAILED', 'CLOSED'],
  // MERGED from these two: somebody merged its pull request at the forge.
  PROVING: ['IN_REVIEW', 'APPROVED', 'MERGED', 'WORKING', 'FAILED', 'CLOSED'],
  IN_REVIEW: ['APPROVED', 'MERGED', 'WORKING', 'FAILED', 'CLOSED'],
  APPROVED: ['MERGED', 'WORKING', 'FAILED', 'CLOSED'],
  // Its branch stays, so that its task can be retried on it.
  FAILED: ['WORKING', 'CLOSED'],
  // MERGED from here: its task ended while a host merged it, and the commit is on the target.
  CLOSED: ['WORKING', 'MERGED'],
  MERGED: [],
} as const satisfies Record<string, readonly string[]>;

export type ChangeState = keyof typeof CHANGE_EDGES;

export const CHANGE_STATES = Object.keys(CHANGE_EDGES) as ChangeState[];

/** Its task is PAUSED for `review` in these states, and in no other. */
export const STATES_OF_REVIEW = ['PROVING', 'IN_REVIEW', 'APPROVED'] as const;

export const STEPS = ['prove', 'land', 'remove', 'sync'] as const;
/**
 * The work of a host for a change: acceptance, rebase and merge, removal of its branch, or
 * synchronisation with its pull request.
 */
export type Step = (typeof STEPS)[number];

/** The event of a transition into each state. */
export const EVENT_OF_STATE = {
  WORKING: 'change.returned',
  PROVING: 'change.submitted',
  IN_REVIEW: 'change.review_requested',
  APPROVED: 'change.approved',
  MERGED: 'change.merged',
  FAILED: 'change.failed',
  CLOSED: 'change.closed',
} as const satisfies Record<ChangeState, string>;

export const VERDICTS = [
  'green',
  'red',
  'approved',
  'changes_requested',
  'commented',
  'conflict',
] as const;
export type Verdict = (typeof VERDICTS)[number];

export const REVIEW_KINDS = ['proof', 'review', 'rebase'] as const;
export type ReviewKind = (typeof REVIEW_KINDS)[number];

export function legalChangeTransitions(from: ChangeState): readonly ChangeState[] {
  return CHANGE_EDGES[from];
}
