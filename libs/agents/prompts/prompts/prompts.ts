import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { type Caller, DroverError } from '#lib/kernel';
import { refuseReport, type Reporter } from '#lib/runs';
import type { McpServerSetting } from '#lib/projects';
import { ProjectSecrets, TaskSecrets } from '#lib/secrets';
import { requireReadable } from '#lib/task-manager';
import { DEFAULT_TEMPLATE, RESUMED_TEMPLATE } from '../domain/default-template.js';
import type { CallsUpTo, ConversationEntry } from '../domain/past-calls.js';
import type { Beginning, PromptFacts } from '../domain/sections.js';
import { fitPrompt, renderPrompt } from '../domain/template.js';
import { conversationEntries, type EntryRow } from './conversation.sql.js';
import { requireTemplate } from './prompt-templates.js';
import {
  attachmentsOfMessages,
  keepPrompt,
  liveTaskOfRun,
  promptFacts,
  promptOfRun,
  type PromptRow,
} from './prompts.sql.js';

/** A prompt, without secrets. */
export interface PromptView {
  prompt: string;
  taskId: string;
}

/** The prompt that a run received. */
export interface RunPromptView extends PromptView {
  runId: string;
  createdAt: Date;
}

/** The first words to the program of a run. */
export interface FirstWords extends RunPromptView {
  /** The standing instructions of its project. */
  instructions: string | null;
  /** The MCP servers of its project, with their secrets. Only the host of the run gets any. */
  mcpServers: readonly McpServerSetting[];
  /** The ids of the attachments of messages to earlier runs, the latest first. */
  attachments: readonly string[];
}

/** The facts about the start of a session that only its host knows. */
export interface SessionStart {
  /** Default: a new conversation. */
  conversation?: Beginning;
  lostFiles?: readonly string[];
  /** The tool calls and messages that the conversation of an earlier run surely has. */
  upTo?: CallsUpTo;
}

/** The prompts of coding agents: their preview, and those that runs received. */
@Injectable()
export class Prompts {
  constructor(
    private readonly database: Database,
    private readonly secrets: TaskSecrets,
    private readonly projectSecrets: ProjectSecrets,
  ) {}

  /**
   * The prompt that the next run of a task would receive now.
   *
   * @param template instead of the template of the workspace
   * @throws DroverError `task_not_found`, `validation_failed`
   */
  async preview(caller: Caller, taskId: string, template?: string): Promise<PromptView> {
    if (template !== undefined) requireTemplate(template);
    const { workspaceId } = caller;
    await requireReadable(this.database.tenant(workspaceId), caller, taskId);
    return { taskId, prompt: await this.compose(workspaceId, taskId, { template }) };
  }

  /**
   * Makes the prompt of a live run and keeps it. A repeated call replaces it. A program that resumes the
   * conversation of the last run gets the news only, by no template.
   *
   * @throws DroverError `run_not_found`, `stale_run`, `secrets_unreadable`
   */
  async create(
    by: Reporter,
    start: SessionStart = {},
    { isHost }: { isHost: boolean },
  ): Promise<FirstWords> {
    const { workspaceId, runId, agentId } = by;
    const tenant = this.database.tenant(workspaceId);
    const live = await firstRow(tenant, liveTaskOfRun, [workspaceId, runId, agentId]);
    if (!live) return refuseReport(this.database, by);
    const prompt = await this.compose(workspaceId, live.task_id, start);
    const kept = await firstRow(tenant, keepPrompt, [workspaceId, runId, agentId, prompt]);
    if (!kept) return refuseReport(this.database, by);
    const { task_id: taskId, project_id: projectId, instructions } = live;
    const shown = live.mcp_servers ?? [];
    const mcpServers =
      projectId === null || !isHost
        ? []
        : await this.projectSecrets.open(tenant, { workspaceId, projectId }, shown);
    const messages = await tenant.rows(attachmentsOfMessages, [workspaceId, taskId]);
    const attachments = messages.map(({ id }) => id);
    const given = { prompt, instructions, mcpServers, attachments };
    return { ...given, taskId, runId, createdAt: kept.created_at };
  }

  /**
   * The prompt that a run received.
   *
   * @throws DroverError `run_not_found`, `prompt_not_found`
   */
  async ofRun({ workspaceId }: Caller, runId: string): Promise<RunPromptView> {
    const row = await firstRow(this.database.tenant(workspaceId), promptOfRun, [
      workspaceId,
      runId,
    ]);
    if (!row) throw new DroverError('run_not_found');
    const { prompt, created_at: createdAt, task_id: taskId } = row;
    if (prompt === null || createdAt === null) throw new DroverError('prompt_not_found');
    return { prompt, taskId, runId, createdAt };
  }

  private async compose(
    workspaceId: string,
    taskId: string,
    { conversation = 'new', lostFiles = [], upTo, template }: SessionStart & { template?: string },
  ): Promise<string> {
    const tenant = this.database.tenant(workspaceId);
    const entriesOf = (id: string) =>
      tenant.rows(conversationEntries, [workspaceId, id, upTo?.runId ?? null]);
    const [row, own] = await Promise.all([
      firstRow(tenant, promptFacts, [
        workspaceId,
        taskId,
        conversation !== 'new',
        upTo?.runId ?? null,
        upTo?.messages ?? 0,
      ]),
      entriesOf(taskId),
    ]);
    if (!row) throw new DroverError('task_not_found');
    const continued = row.continued === null ? [] : await entriesOf(row.continued.id);
    const entries = [
      ...continued.map((entry) => toEntry(entry, false)),
      ...own.map((entry) => toEntry(entry, true)),
    ];
    const facts = { ...toFacts(row), entries, beginning: conversation, lostFiles, upTo };
    const ofNew = template ?? row.template ?? DEFAULT_TEMPLATE;
    const prompt = renderPrompt(conversation === 'resumed' ? RESUMED_TEMPLATE : ofNew, facts);
    // The columns are redacted. A secret of this task can stand in the texts of others.
    return fitPrompt(await this.secrets.hideIn(prompt, tenant, workspaceId, [taskId]));
  }
}

/** @param isOwn false: the entry is of the task that the task continues */
function toEntry(row: EntryRow, isOwn: boolean): ConversationEntry {
  const { run_id: runId, generation, kept_generation: kept, ...entry } = row;
  const isLater = kept === null ? isOwn : (generation ?? Infinity) > kept;
  return { ...entry, runId, isLater };
}

function toFacts(row: PromptRow): Omit<PromptFacts, 'beginning' | 'lostFiles' | 'entries'> {
  const { title, description, instructions, steps, deliverables, acceptance } = row;
  const { acceptance_script: acceptanceScript } = row;
  return {
    title,
    description,
    instructions,
    steps,
    deliverables,
    acceptance,
    acceptanceScript,
    inputContext: row.input_context,
    checkpointData: row.checkpoint_data,
    continued: row.continued,
    change: row.change,
    answers: row.answers ?? [],
    prerequisites: row.prerequisites ?? [],
    runs: row.runs ?? [],
    messages: row.messages ?? [],
  };
}
