import { looksSecret, type Network } from '#lib/kernel';
import { secretsIn, type SessionSpec } from '#lib/session-runtime';
import { FILES } from '../runs/run-folder.js';
import type { Job } from './job.js';
import { KnownCredentials, type KnownCredentialsParts } from './known-credentials.js';

/** The variables of a session: the task's own, its secrets and Drover's. */
export function environmentOf(
  { apiUrl, run, task }: Job,
  env: Record<string, string>,
): Record<string, string> {
  const { model, traceparent } = run;
  return {
    ...env,
    ...task.secrets,
    DROVER_API_URL: apiUrl,
    DROVER_RUN_ID: run.id,
    DROVER_TASK_ID: task.id,
    DROVER_RUN_TOKEN: run.token,
    DROVER_ATTEMPT: String(task.retryCount + 1),
    ...(model && { DROVER_MODEL: model }),
    ...(traceparent && { TRACEPARENT: traceparent }),
  };
}

/** The files of a session, by the variables that name them. */
export function filesOf({ task, run: { id, generation, model, modelTier } }: Job) {
  // The secrets are only in the environment, and not in a file too.
  const visible = { ...task, answers: task.answers ?? [], secrets: undefined };
  const run = { id, generation, model: model ?? undefined, modelTier: modelTier ?? undefined };
  const input = { inputContext: task.inputContext, task: visible, run };
  const checkpoint = task.checkpointData ?? {};
  return {
    DROVER_INPUT_FILE: { name: FILES.input, content: JSON.stringify(input) },
    DROVER_OUTPUT_FILE: { name: FILES.output },
    DROVER_CHECKPOINT_FILE: { name: FILES.checkpoint, content: JSON.stringify(checkpoint) },
    DROVER_ARTIFACTS: { name: FILES.artifacts, isFolder: true },
  };
}

interface WithSecrets {
  run: { token: string };
  task: { secrets?: Record<string, string> | null; inputContext?: unknown; answers?: unknown };
}

/** The values that must not appear in what Drover keeps of a session. */
export function secretsOf({ run, task }: WithSecrets, passedEnv: Record<string, string>): string[] {
  const passed = Object.entries(passedEnv).filter(([name]) => looksSecret(name));
  const named = [...passed.map(([, value]) => value), ...Object.values(task.secrets ?? {})];
  return [run.token, ...named, ...secretsIn(task.inputContext), ...secretsIn(task.answers)];
}

/** The headers for the proxy of a session. Without a proxy there are none. */
export async function credentialsOf(
  { report }: Pick<Job, 'report'>,
  network: Network | undefined,
  learn: KnownCredentialsParts['learn'],
): Promise<SessionSpec['credentials']> {
  if (network !== 'allow') return [];
  const known = new KnownCredentials({ report, learn });
  // A value that cannot be opened fails the start of the session.
  await known.current();
  return known.current;
}
