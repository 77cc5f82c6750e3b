import type { Job } from '../executor.js';

const FALLBACK_PATH = '/usr/local/bin:/usr/bin:/bin';

/**
 * The whole environment of a task's process: nothing of the worker's own comes through but the
 * search path, the language and what its configuration names, so none of its secrets can.
 */
export function environmentOf(
  job: Job,
  taskEnv: Record<string, string>,
  passed: Record<string, string>,
): Record<string, string> {
  const { folder, task } = job;
  return {
    PATH: FALLBACK_PATH,
    LANG: 'C.UTF-8',
    ...passed,
    HOME: folder.work,
    TMPDIR: folder.tmp,
    ...taskEnv,
    DROVER_API_URL: job.apiUrl,
    DROVER_RUN_ID: job.runId,
    DROVER_TASK_ID: task.id,
    DROVER_RUN_TOKEN: job.runToken,
    DROVER_ATTEMPT: String(task.retryCount + 1),
    DROVER_INPUT_FILE: folder.inputFile,
    DROVER_OUTPUT_FILE: folder.outputFile,
    DROVER_CHECKPOINT_FILE: folder.checkpointFile,
    DROVER_SIGNALS_FILE: folder.signalsFile,
  };
}

/** The worker's variables that its tasks may see. */
export function passedEnvironment(
  names: readonly string[],
  env: NodeJS.ProcessEnv,
): Record<string, string> {
  const passed = ['PATH', 'LANG', ...names].map((name) => [name, env[name]] as const);
  return Object.fromEntries(
    passed.filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
