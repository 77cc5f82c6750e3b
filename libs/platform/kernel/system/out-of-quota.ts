import { constants } from 'node:os';

/** True if a quota of the file system refused a write. Node has no name for this error. */
export function isOutOfQuota(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.errno === -constants.errno.EDQUOT;
}
