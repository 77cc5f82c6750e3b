import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { Revocations } from '#lib/identity';
import { type Caller, DroverError } from '#lib/kernel';
import { agentOfRun } from './agent-of-run.sql.js';

/** Tokens handed out with runs, for the processes that execute them. */
@Injectable()
export class RunTokens {
  constructor(
    private readonly database: Database,
    private readonly revocations: Revocations,
  ) {}

  /**
   * Revokes the token of a run, everywhere within about a second. The run continues, and its agent
   * reports about it with the agent's token. An agent can revoke tokens of its own runs.
   *
   * @throws DroverError `run_not_found`
   */
  async revoke(caller: Caller, runId: string): Promise<void> {
    const { workspaceId } = caller;
    await this.database.tenant(workspaceId).transaction(async (tx) => {
      const run = await firstRow(tx, agentOfRun, [workspaceId, runId]);
      const isOthers = caller.kind === 'agent' && run?.agent_id !== caller.agentId;
      if (!run || isOthers) throw new DroverError('run_not_found');
      await this.revocations.revoke(tx, [{ kind: 'run', runId }]);
    });
    await this.revocations.announce();
  }
}
