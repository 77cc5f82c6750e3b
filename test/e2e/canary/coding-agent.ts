import { kindOf } from '#lib/agent-kinds';
import { AGENTS, agentProgram } from '../../support/agent-programs.js';
import { type SeenRequest, startModelServer } from '../../support/model-server/index.js';
import type { BuiltProcess } from '../../support/processes.js';
import { processesInSandboxes, type SearchedMemory, searchMemory } from './memory.js';
import type { Stage } from './stage.js';

/** Prints what a session can see of itself and its neighbours. */
const LOOK = 'env; cat /proc/*/environ /proc/*/cmdline; ls -R /run';

interface Searched {
  /** The model's requests. */
  requests: SeenRequest[];
  /** The memory of the session's processes. */
  processes: SearchedMemory[];
}

/**
 * Runs a real coding agent in a sandbox, with a provider of its own, and searches the memory of its
 * processes while they wait for an answer.
 */
export async function runCodingAgent(
  stage: Stage,
  sandbox: Record<string, string>,
  { key, texts }: { key: string; texts: string[] },
): Promise<Searched> {
  await agentProgram(kindOf('codex')!);
  const processes: Searched['processes'] = [];
  let worker: BuiltProcess | undefined;
  const search = (): void => {
    for (const pid of processesInSandboxes(worker!.pid))
      processes.push(...[searchMemory(pid, texts) ?? []].flat());
  };
  const models = await startModelServer([
    { text: 'I look for it.', calls: [{ run: LOOK }] },
    { text: 'I found nothing.', beforeChunk: (chunk) => (chunk === 0 ? search() : undefined) },
  ]);
  try {
    const way = { key, baseUrl: models.url };
    await stage.ask(['PUT', '/model-providers/openai'], 200, way);
    await stage.ask(['PUT', '/model-providers/openai'], 400, { ...way, baseUrl: key });
    await stage.ask(['GET', '/model-providers'], 200);
    worker = await stage.startWorker('agents', {
      ...sandbox,
      DROVER_AGENTS: AGENTS,
      DROVER_WORKER_LOG_LEVEL: 'debug',
    });
    const agent = { kind: 'codex', model: 'claude-haiku-4-5' };
    const id = await stage.submit('', { agent, instructions: 'Look.', inputContext: {} });
    await stage.until(id, 'COMPLETED');
    for (const path of ['', '/logs?limit=100', '/runs'])
      await stage.ask(['GET', `/agent-tasks/${id}${path}`], 200);
    await stage.drover('provider', 'list');
    await stage.drover('task', 'show', id, '--transcript');
    return { requests: models.requests, processes };
  } finally {
    worker?.kill('SIGTERM');
    await worker?.ended();
    await models.close();
  }
}
