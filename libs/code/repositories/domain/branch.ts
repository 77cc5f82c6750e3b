/** Rules of `git check-ref-format`, and none that begin with `-`, which commands take for an option. */
const FORBIDDEN =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|^[-/]|\/$|\.$|\.lock(?:\/|$)|(?:^|\/)\.|^@$|^HEAD$/;

const MAX_BRANCH = 200;

export const BRANCH_RULE = 'be a name of a branch, as in main or release/2.x';

export function isBranch(name: string): boolean {
  return name !== '' && name.length <= MAX_BRANCH && !FORBIDDEN.test(name);
}

const PLACEHOLDERS = /\{(agent|task)\}/g;

export const PATTERN_RULE =
  'be a name of a branch with {task} and optionally {agent}, as in {agent}/{task}';

/** Without {task} two tasks would share a branch. */
export function isBranchPattern(pattern: string): boolean {
  return pattern.includes('{task}') && isBranch(pattern.replaceAll(PLACEHOLDERS, 'x'));
}

/**
 * The branch of a change. Other characters than letters, digits, `.`, `_` and `-` in the name of
 * the agent become `-`.
 */
export function branchOf(pattern: string, names: { agent: string; task: string }): string {
  const agent = names.agent.toLowerCase().replaceAll(/[^a-z0-9_-]+/g, '-');
  const safe = { task: names.task, agent: agent.split('-').filter(Boolean).join('-') || 'agent' };
  return pattern.replaceAll(PLACEHOLDERS, (_, name: 'agent' | 'task') => safe[name]);
}
