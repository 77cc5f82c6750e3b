import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { Revocations } from '#lib/identity';
import { type Caller, DroverError } from '#lib/kernel';
import { agentOfRun } from './agent-of-run.sql.js';

/** The tokens that were handed out with runs, for what executes them. */
@Injectable()
export class RunTokens {
  constructor(
    private readonly database: Database,
    private readonly revocations: Revocations,
  ) {}

  /**
   * Revokes the token of a run, everywhere within about a second. The run itself goes on, and
   * its agent reports about it with its own token. An agent can do so for its own runs.
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
