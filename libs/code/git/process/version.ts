import { gitText } from './git.js';

/** The oldest version with all that Drover needs: it merges without a working folder. */
const OLDEST = [2, 39] as const;

/** Such as `git version 2.47.0`. @throws GitError */
export function gitVersion(): Promise<string> {
  return gitText(['version'], { timeoutMs: 10_000 });
}

/** @returns the reason why this machine has no git for Drover; undefined if it has */
export async function whyNoGit(): Promise<string | undefined> {
  try {
    const said = await gitVersion();
    const [, major = '0', minor = '0'] = / (\d+)\.(\d+)/.exec(said) ?? [];
    const isNew =
      Number(major) > OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) >= OLDEST[1]);
    return isNew ? undefined : `${said} is older than ${OLDEST.join('.')}`;
  } catch {
    return 'git is not installed';
  }
}
