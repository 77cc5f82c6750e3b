import { Injectable } from '@nestjs/common';
import type { SqlRunner } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { HIDES_NOTHING, hiddenPlaces } from '../domain/hidden-places.js';
import { type ColumnOfAgent, sentence, type Unreadable } from '../domain/originals.js';
import { SecretValues } from '../domain/secret-values.js';
import { asObject, keepHidden, redactSecrets, showsSecret } from '../domain/secret-walk.js';
import { agentOriginals, type SecretsInput, writeAgentSecrets } from './task-secrets.sql.js';
import { TaskSecrets } from './task-secrets.js';

/** The columns of an agent that its sessions receive and people see without secrets. */
export interface SessionColumns {
  command: string[];
  secrets: Record<string, string>;
}

type Registered = Partial<SessionColumns> & { metadata?: Record<string, unknown> };

/** An agent's registration on its way into its row. */
export type SealedAgent<Request> = { request: Request; inputs: SecretsInput<ColumnOfAgent>[] };

interface Place {
  workspaceId: string;
  agentId: string;
}

/** The secrets of agents: sealed at registration, opened for their sessions. */
@Injectable()
export class AgentSecrets {
  constructor(private readonly secrets: TaskSecrets) {}

  /**
   * The public form of a registration. Only the command and `secrets` have originals, because
   * nothing reads the other secrets again. A "[redacted]" that the client was shown keeps the value
   * that it hid, and is refused where it hides none.
   *
   * @param known the agent as it is shown, if it exists
   * @throws DroverError `secrets_unreadable`, `validation_failed`
   */
  async seal<Request extends Registered>(
    runner: SqlRunner,
    place: Place,
    request: Request,
    known?: SessionColumns,
  ): Promise<SealedAgent<Request>> {
    const current = known && (await this.opened(runner, place, known));
    const { command, secrets, metadata } = restored(request, current, known);
    refuseUnknown({ command, secrets }, current);
    // A value that was secret before stays hidden, even if its name is gone.
    const values = SecretValues.in({ command, secrets, metadata }, { ...current });
    const at = { workspace_id: place.workspaceId, agent_id: place.agentId };
    const given = { ...(command && { command }), ...(secrets && { secrets }) };
    const sealed = await this.secrets.sealColumns<ColumnOfAgent, object>(at, given, values);
    const notes = metadata && { metadata: asObject(redactSecrets(metadata, values)) };
    const shown = { ...redactTexts(request, values), ...notes, ...sealed.shown };
    return { request: shown, inputs: sealed.inputs };
  }

  /** Runs after the statement that writes the agent's row, in its transaction. */
  async write(
    runner: SqlRunner,
    { workspaceId }: Place,
    inputs: readonly SecretsInput<ColumnOfAgent>[],
  ): Promise<void> {
    if (inputs.length > 0) {
      await runner.rows(writeAgentSecrets, [workspaceId, JSON.stringify(inputs)]);
    }
  }

  async open(
    runner: SqlRunner,
    { workspaceId, agentId }: Place,
    shown: SessionColumns,
  ): Promise<SessionColumns | Unreadable> {
    const opened = { command: shown.command, secrets: shown.secrets };
    if (!showsSecret(opened)) return opened;
    for (const original of await runner.rows(agentOriginals, [workspaceId, agentId])) {
      const outcome = await this.secrets.open(original);
      if (outcome.kind === 'unreadable') return outcome;
      Object.assign(opened, { [original.column_name]: outcome.value });
    }
    return opened;
  }

  private async opened(
    runner: SqlRunner,
    place: Place,
    known: SessionColumns,
  ): Promise<SessionColumns> {
    const current = await this.open(runner, place, known);
    if (!('kind' in current)) return current;
    throw new DroverError('secrets_unreadable', { detail: `${sentence(current)}.` });
  }
}

function restored<Request extends Registered>(
  request: Request,
  current: SessionColumns | undefined,
  known: SessionColumns | undefined,
): Request {
  const { command, secrets } = request;
  if (!known || !current) return request;
  return {
    ...request,
    ...(command && { command: keepHidden(command, current.command, known.command) }),
    ...(secrets && { secrets: keepHidden(secrets, current.secrets, known.secrets) }),
  };
}

/**
 * Sessions would get the public form of a secret that could not be restored. A literal that the
 * agent has had before stays.
 *
 * @throws DroverError `validation_failed`
 */
function refuseUnknown(given: Partial<SessionColumns>, current: SessionColumns | undefined): void {
  const literal = new Set(hiddenPlaces(current));
  const unknown = hiddenPlaces(given).filter((place) => !literal.has(place));
  if (unknown.length === 0) return;
  const errors = unknown.map((field) => ({ field, message: HIDES_NOTHING }));
  throw new DroverError('validation_failed', { errors });
}

const TEXTS = new Set(['name', 'model', 'hostName', 'agentVersion']);

function redactTexts<Request extends object>(request: Request, values: SecretValues): Request {
  const fields = Object.entries(request).map(([name, value]) => [
    name,
    TEXTS.has(name) && typeof value === 'string' ? values.redact(value) : (value as unknown),
  ]);
  return Object.fromEntries(fields) as Request;
}
