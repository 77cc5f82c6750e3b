import type { CommitWords, Identity } from '#lib/git';
import type { Job } from '../execution/job.js';
import type { RepositoryAccess } from './types.js';

/** The author of the commits of a run. */
export function authorOf({ task }: Job): Identity {
  const kind = (task.agent as { kind?: string } | null | undefined)?.kind ?? 'drover';
  return { name: kind, email: `${kind}@drover.invalid` };
}

/** The author, committer and signature of the commits that a host makes for a run. */
export function peopleOf(
  job: Job,
  { committer, signingKey }: RepositoryAccess,
): Omit<CommitWords, 'message'> {
  return { author: authorOf(job), committer: committer ?? undefined, signingKey };
}

/** The words of a commit with the files of a run. */
export function wordsOf(
  job: Job,
  access: RepositoryAccess,
  summary: string | undefined,
): CommitWords {
  const { task, run } = job;
  const trailers = `Drover-Task: ${task.id}\nDrover-Run: ${run.id}`;
  const title = task.title.replace(/\s+/g, ' ').trim();
  const message = [title, summary?.trim() ?? '', trailers].filter(Boolean).join('\n\n');
  return { message, ...peopleOf(job, access) };
}
