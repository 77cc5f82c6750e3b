import { cut } from '#lib/kernel';
import type { ChangeState } from './change-state.js';
import { withoutReferences } from './references.js';
import type { ChangeComment, ReviewView } from './review.js';

/** The pull request of a change as a host must make it. PullRequestWorkDto describes its fields. */
export interface PullRequestWork {
  number: number | null;
  seen: string | null;
  title: string;
  body: string;
  status: { state: 'pending' | 'success' | 'failure'; description: string; url: string | null };
  comments: { id: string; body: string }[];
}

export interface DescribedChange {
  title: string;
  description: string | null;
  summary: string | null;
  agentKind: string | null;
  state: ChangeState;
  revision: number;
  headCommit: string | null;
  mergedCommit: string | null;
  obstacle: string | null;
  runs: number;
  tokens: string;
  costUsd: string;
  /** Oldest first. */
  reviews: readonly (ReviewView & { isOfForge: boolean })[];
  /** The number of the issue of this repository that the task is about. */
  issue: number | null;
  /** The address of the change in the dashboard. */
  page: string | null;
}

const STATES: Record<ChangeState, string> = {
  WORKING: 'An agent works on it',
  PROVING: 'Its acceptance runs',
  IN_REVIEW: 'It waits for a review',
  APPROVED: 'It is approved, and waits for its merge',
  MERGED: 'It is merged',
  FAILED: 'It has failed',
  CLOSED: 'It is closed without a merge',
};

/** In characters. Forges take 65,536 for a description. */
const MAX_WORDS = 6_000;
const MAX_OUTPUT = 8_000;
const MAX_TITLE = 200;
const MAX_COMMENTS = 20;
const MAX_COMMENT = 16_000;

/** The title of a pull request: one line. */
export function titleOf(title: string): string {
  return cut(title.replaceAll(/\s+/g, ' ').trim(), MAX_TITLE) || 'Change';
}

/** The description of a pull request in Markdown: the task, the cost and the acceptance. */
export function bodyOf(change: DescribedChange): string {
  const proof = lastProof(change);
  const words = quiet(cut(change.summary ?? change.description ?? '', MAX_WORDS)).trim();
  const title = quiet(titleOf(change.title)).replaceAll('|', String.raw`\|`);
  const rows: [string, string][] = [
    ['Task', change.page === null ? title : `[${title.replaceAll(/[[\]]/g, ' ')}](${change.page})`],
    ['State', STATES[change.state]],
    ...(change.agentKind === null ? [] : [['Agent', change.agentKind] as [string, string]]),
    ['Revision', String(change.revision)],
    ['Cost', costOf(change)],
    ['Acceptance', statusOf(change).description],
  ];
  const table = [
    '| Drover | |',
    '| --- | --- |',
    ...rows.map(([name, is]) => `| ${name} | ${is} |`),
  ];
  const output = proof?.body.trim() ?? '';
  const details =
    output === ''
      ? ''
      : `<details><summary>Output of the acceptance</summary>\n\n${fenced(plain(output.slice(-MAX_OUTPUT)))}\n\n</details>`;
  const issue = change.issue === null ? '' : `Closes #${change.issue}`;
  return [words, issue, table.join('\n'), details].filter((part) => part !== '').join('\n\n');
}

/** The status of the submitted commit: what its last proof found. */
export function statusOf(change: DescribedChange): PullRequestWork['status'] {
  const proof = lastProof(change);
  const { page: url } = change;
  if (proof === undefined) return { state: 'pending', description: 'Acceptance is under way', url };
  const seconds = proof.durationMs === null ? '' : ` in ${Math.ceil(proof.durationMs / 1_000)} s`;
  if (proof.verdict === 'green') {
    const is =
      proof.exitCode === null ? 'There are no acceptance commands' : 'Acceptance succeeded';
    return { state: 'success', description: `${is}${seconds}`, url };
  }
  // -1: the commands ended without an exit code.
  const hasCode = proof.exitCode !== null && proof.exitCode >= 0;
  const code = hasCode ? ` with exit code ${proof.exitCode}` : '';
  return { state: 'failure', description: `Acceptance failed${code}${seconds}`, url };
}

/** Reviews that were not made at the forge, as comments there. */
export function commentsOf({
  reviews,
}: Pick<DescribedChange, 'reviews'>): PullRequestWork['comments'] {
  const own = reviews.filter(({ kind, isOfForge }) => kind === 'review' && !isOfForge);
  return own.slice(-MAX_COMMENTS).map((review) => ({ id: review.id, body: commentOf(review) }));
}

const DEEDS = {
  approved: 'approved this change',
  changes_requested: 'requested changes',
  commented: 'commented',
} as const;

function commentOf({ author, verdict, body, comments }: ReviewView): string {
  const who = author.startsWith('agent:') ? 'An agent' : 'A person';
  const deed = verdict in DEEDS ? DEEDS[verdict as keyof typeof DEEDS] : 'commented';
  const lines = comments.map(lineOf);
  const words = [`**${who} ${deed} in Drover.**`, quiet(body).trim(), lines.join('\n')];
  return cut(words.filter((part) => part !== '').join('\n\n'), MAX_COMMENT);
}

function lineOf({ path, line, text }: ChangeComment): string {
  return `- \`${path.replaceAll('`', '')}:${line}\`: ${quiet(text).replaceAll('\n', ' ')}`;
}

function lastProof({ reviews, headCommit }: DescribedChange) {
  return reviews.findLast(({ kind, commit }) => kind === 'proof' && commit === headCommit);
}

function costOf({ runs, tokens, costUsd }: DescribedChange): string {
  const usd = Number(costUsd) > 0 ? `, ${costUsd} USD` : '';
  return `${runs} ${runs === 1 ? 'run' : 'runs'}, ${tokens} tokens${usd}`;
}

/** Words of agents, which neither look like a mark of Drover nor refer to anything. */
function quiet(text: string): string {
  return withoutReferences(plain(text));
}

/** Agents wrote it: it must not look like a mark of Drover. */
function plain(text: string): string {
  return text.replaceAll('<!--', '&lt;!--');
}

function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
