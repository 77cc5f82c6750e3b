import { killTree } from '#lib/runtime';
import { type Log, messageOf } from '../log.js';
import type { RunFolder } from '../runs/run-folder.js';
import type { StateFile } from './state-file.js';

/**
 * Kills what an earlier life left running. Only processes that carry a run's mark, or belong to the
 * very process that was remembered: a process id alone proves nothing.
 */
export async function killLeftovers(state: StateFile, log: Log): Promise<void> {
  for (const [runId, { leader }] of Object.entries(state.leftovers)) {
    const gone = await killTree({ id: runId, leader });
    if (gone) log.info('Nothing is left running of an earlier run', { runId });
    else log.error('Processes of an earlier run can not be killed', { runId });
  }
}

/** Removes the folder of a run that an earlier life left. */
export async function removeFolder(folder: RunFolder, log: Log): Promise<void> {
  await folder.remove().catch((error: unknown) => {
    log.warn('The folder of a run could not be removed', {
      folder: folder.root,
      error: messageOf(error),
    });
  });
}
