import { type Log, messageOf, retrying } from '#lib/agent-host';
import type { AgentKind } from '#lib/agent-kinds';
import {
  type AgentState,
  type CallsUpTo,
  takeOver,
  type TakenOver,
  unpackState,
} from '#lib/agent-sessions';
import type { DroverApi } from '../api/drover-api.js';

/** The time for the earlier state. Without it the session begins from a summary. */
const FETCH_MS = 30_000;

/** The conversation and files that a run takes over from the earlier runs of its task. */
export interface Earlier extends TakenOver {
  /** Files of the working folder that were not kept. */
  lost: string[];
  /** The tool calls that the conversation to resume surely has. */
  upTo?: CallsUpTo;
  /** The conversation to resume is that of a finished task. */
  isOfOtherTask: boolean;
}

/** That of the first run of a task. */
export const NOTHING: Earlier = { files: [], lost: [], isOfOtherTask: false };

/** Gets the last state of a run's task, or of the task that it continues. Never rejects. */
export async function earlierState(
  run: { id: string; taskId: string },
  {
    api,
    kind,
    workDir,
    log,
  }: {
    api: Pick<DroverApi, 'agentState'>;
    kind: AgentKind;
    /** The path of the working folder, as the session will see it. */
    workDir: string;
    log: Log;
  },
): Promise<Earlier> {
  try {
    const signal = AbortSignal.timeout(FETCH_MS);
    const fetch = async (): Promise<AgentState | undefined> => {
      const packed = await api.agentState(run.id, signal);
      return packed && unpackState(packed);
    };
    const state = await retrying('agent state', fetch, { log, signal });
    if (state === undefined) return { ...NOTHING, why: 'No state of the earlier agent is kept' };
    const { lost, taskId, upTo } = state;
    const taken = takeOver(state, kind, workDir);
    return { ...taken, lost, upTo, isOfOtherTask: taskId !== run.taskId };
  } catch (error) {
    log.warn('State of the earlier agent not read', { error: messageOf(error) });
    return {
      ...NOTHING,
      why: `The state of the earlier agent cannot be read: ${messageOf(error)}`,
    };
  }
}
