import type { ReviewKind, Verdict } from './change-state.js';

/** A remark about one line of a change. */
export interface ChangeComment {
  path: string;
  line: number;
  /** The file before or after the change. Default: after. */
  side?: 'before' | 'after';
  text: string;
}

/** A proof, a review or a conflict of a change. */
export interface ReviewView {
  id: string;
  revision: number;
  kind: ReviewKind;
  verdict: Verdict;
  /** The commit that it is about. */
  commit: string | null;
  /** Such as user:<id> or agent:<id>. */
  author: string;
  /** Null for a user of a forge, and for a person who has left the workspace. */
  authorName: string | null;
  body: string;
  comments: ChangeComment[];
  exitCode: number | null;
  durationMs: number | null;
  createdAt: string;
}

/** Verdicts that a run is told, so that it mends its change. */
export const FEEDBACK = ['red', 'changes_requested', 'commented', 'conflict'] as const;
