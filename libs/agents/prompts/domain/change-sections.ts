import { fenced } from './fenced.js';

/** A proof, a review or a conflict that the next run of a change must mend. */
export interface Feedback {
  kind: 'proof' | 'review' | 'rebase';
  verdict: string;
  author: string;
  body: string;
  comments: readonly { path: string; line: number; side?: 'before' | 'after'; text: string }[];
  exitCode: number | null;
  /** True for a proof of the change on top of newer commits of its target. */
  isOnTarget: boolean | null;
}

/** The repository of a task, and what its last submission got to hear. */
export interface ChangeFacts {
  repository: string;
  branch: string | null;
  target: string;
  /** The folder in which the session starts; null: the root of the repository. */
  path: string | null;
  /** The commands that prove the change. */
  acceptance: string | null;
  /** Oldest first. */
  feedback: readonly Feedback[];
}

export function describeChange(facts: ChangeFacts): string {
  const { repository, branch, target, path, acceptance } = facts;
  const own = branch === null ? 'a branch of your own' : `your own branch ${branch}`;
  const words = [
    `Your working folder is a checkout of the repository ${repository}, on ${own}. Commit your work ` +
      `there. You can fetch, and push this branch and no other. Your work lands on ${target} after its ` +
      'review.',
  ];
  if (path !== null) {
    words.push(
      `You start in its folder ${path}. Of the rest, the checkout has only the files above that folder.`,
    );
  }
  if (acceptance !== null) {
    words.push('These commands prove it on a clean checkout when you are done:');
    words.push(fenced(acceptance, 'bash'));
  }
  return words.join('\n\n');
}

export function describeFeedback({ feedback, target }: ChangeFacts): string {
  return feedback.map((one) => describeOne(one, target)).join('\n\n');
}

function describeOne(one: Feedback, target: string): string {
  const { kind, body, comments } = one;
  const said = body.trim() === '' ? [] : [kind === 'review' ? body : fenced(body, '')];
  const lines = comments.map(({ path, line, side, text }) => {
    const where = `${path}:${line}${side === 'before' ? ' (before the change)' : ''}`;
    return `- ${where}: ${text}`;
  });
  const remarks = lines.length === 0 ? [] : [lines.join('\n')];
  return [headingOf(one, target), ...said, ...remarks].join('\n\n');
}

function headingOf({ kind, author, exitCode, isOnTarget }: Feedback, target: string): string {
  if (kind === 'review') return `### Review by ${author}`;
  if (kind === 'rebase') {
    return (
      `### Conflict with ${target}\n\nYour working folder has the latest commits of ${target} merged ` +
      'in. Where both sides changed the same lines, the files have marks of a conflict. Your lines ' +
      `are above \`=======\`, those of ${target} are below. Edit these files so that they have both ` +
      'changes, and remove the marks. Do not reset or rebase your branch. This is the conflict:'
    );
  }
  if (exitCode === null) return '### Refused';
  if (isOnTarget !== true) return headingOfProof(exitCode);
  return (
    `### The proof failed with exit code ${exitCode}, on top of newer commits of ${target}\n\nYour ` +
    'working folder has these commits merged in, so you can repeat the failure. This is the end of ' +
    'its output:'
  );
}

/** A failed proof that says the end of its output. */
export function describeFailedProof(output: string, exitCode: number | null): string {
  return [headingOfProof(exitCode ?? -1), fenced(output, '')].join('\n\n');
}

function headingOfProof(exitCode: number): string {
  return `### The proof failed with exit code ${exitCode}. This is the end of its output:`;
}
