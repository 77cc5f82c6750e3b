import { Injectable } from '@nestjs/common';
import { AgentManagerService } from '#lib/agent-manager';
import { Database } from '#lib/database';
import { type Caller, idOfCursor, type Page, toPage } from '#lib/kernel';
import { TaskQueries, type TaskView } from '#lib/task-manager';
import type { TaskStatus } from '#lib/transitions';
import { tasksOfAgent } from './runs-of-agent.sql.js';

export interface AgentTasksRequest {
  status?: TaskStatus[];
  /** `true`: only tasks that the agent holds now. */
  live?: 'true' | 'false';
  limit: number;
  cursor?: string;
}

/** The tasks of an agent, the newest first. */
@Injectable()
export class TasksOfAgent {
  constructor(
    private readonly database: Database,
    private readonly agents: AgentManagerService,
    private readonly queries: TaskQueries,
  ) {}

  /** @throws DroverError `agent_not_found`, `malformed_cursor` */
  async list(caller: Caller, agentId: string, request: AgentTasksRequest): Promise<Page<TaskView>> {
    const { workspaceId } = caller;
    await this.agents.get(caller, agentId);
    const before = idOfCursor(request.cursor);
    const live = request.live === 'true';
    const params = [workspaceId, agentId, request.status ?? null, live, before, request.limit + 1];
    const rows = await this.database.tenant(workspaceId).rows(tasksOfAgent, params);
    const keyOf = ({ id }: { id: string }) => [id];
    const page = toPage(rows, request.limit, keyOf, ({ id }) => id, rows[0]?.cut);
    return { ...page, items: await this.queries.getMany(workspaceId, page.items) };
  }
}
