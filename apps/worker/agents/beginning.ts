import type { AgentEnd, AgentEvent, McpServer } from '#lib/agent-kinds';
import type { AgentWords } from '#lib/agent-sessions';
import type { FirstWords, RunPrompt } from '../api/types.js';
import type { JobReports } from '../execution/job.js';
import type { AgentLog } from './agent-log.js';
import { type Earlier, NOTHING } from './earlier-state.js';

/** The maximum number of lost files that an agent is told by name. */
const MAX_LOST = 100;

export interface BeginningParts {
  /** The run is the first one of a task that continues no other. */
  isFirst: boolean;
  /** It does not reject. */
  earlier: Promise<Earlier>;
  lines: AgentLog;
}

export type SessionPart = Omit<AgentWords, 'images'> & {
  /** False: the conversation of the same task has heard of its attachments. */
  isToldAgain: boolean;
  /** The attachments of messages to earlier runs, by their ids. */
  attachments: readonly string[];
};

/** The first words and files of a run's sessions: in the earlier conversation, or in a new one. */
export class Beginning {
  /** It is known from the first session on. */
  earlier: Earlier = NOTHING;
  private readonly known: Promise<void>;
  private resume: string | undefined;
  private why: string | undefined;
  private hasTold = false;
  private hasWorked = false;

  constructor(
    private readonly report: Pick<JobReports, 'prompt'>,
    private readonly parts: BeginningParts,
  ) {
    this.known = parts.earlier.then((earlier) => {
      this.earlier = earlier;
      this.resume = earlier.resume;
      this.why = earlier.why;
    });
  }

  /**
   * The part of a session that depends on the earlier ones.
   *
   * @throws the errors of `JobReports.prompt`
   */
  async session(): Promise<SessionPart> {
    await this.known;
    const { earlier, resume } = this;
    const isOfWork = ({ name }: { name: string }) => name.startsWith('work/');
    const takenOver = resume === undefined ? earlier.files.filter(isOfWork) : earlier.files;
    if (resume === undefined) this.tellNew();
    const start = this.start();
    const words = await this.report.prompt(start);
    const { prompt, instructions, mcpServers = [], attachments = [] } = words;
    const isToldAgain = start.conversation !== 'resumed';
    const given = { instructions: instructions ?? undefined, mcpServers: mcpServers.map(toServer) };
    return { prompt, ...given, resume, takenOver, isToldAgain, attachments };
  }

  heed({ type }: AgentEvent): void {
    if (type === 'session' && this.resume !== undefined && !this.hasTold) {
      this.hasTold = true;
      this.parts.lines.note('INFO', "Resumed the agent's conversation", 'agent_resumed');
    }
    this.hasWorked ||= type === 'message' || type === 'tool_call' || type === 'turn_ended';
  }

  /**
   * True if the program ended because it cannot resume the conversation. A new one begins then: the next
   * session has other words.
   */
  isRefused(end: AgentEnd): boolean {
    if (this.resume === undefined || end.kind !== 'failed') return false;
    const isUnable = end.class === 'crash' || end.class === 'setup';
    if (end.class !== 'no_conversation' && (!isUnable || this.hasWorked)) return false;
    this.resume = undefined;
    this.why = `The agent cannot resume it: ${end.message}`;
    return true;
  }

  private start(): RunPrompt {
    const { lost, isOfOtherTask, upTo } = this.earlier;
    const lostFiles = lost.slice(0, MAX_LOST);
    if (this.resume === undefined) return { conversation: 'new', lostFiles };
    return { conversation: isOfOtherTask ? 'continued' : 'resumed', lostFiles, upTo };
  }

  private tellNew(): void {
    const { isFirst, lines } = this.parts;
    if (isFirst && this.earlier.files.length === 0) return;
    const why = lines.redacted(this.why ?? '');
    const text = `Started a new conversation with a summary: ${why}`;
    lines.note('WARN', text, 'agent_restarted');
  }
}

/** The server has checked that it is a program or an address. */
function toServer(server: NonNullable<FirstWords['mcpServers']>[number]): McpServer {
  const { name, command, args = [], env = {}, url = '', headers = {} } = server;
  const isTrusted = false;
  return command === undefined
    ? { name, isTrusted, url, headers }
    : { name, isTrusted, command, args, env };
}
