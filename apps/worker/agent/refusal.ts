import { hasCode, isTransient, isUnauthenticated, messageOf } from '#lib/agent-host';
import type { Credentials, WorkerConfig } from '../config.js';

/** The reason why the server does not register the worker, with the setting or file to change. */
export function explainRefusal(error: unknown, config: WorkerConfig): Error {
  if (isTransient(error)) return error as Error;
  const { credentials } = config;
  const reason = messageOf(error);
  if (hasCode(error, 'agent_terminated')) {
    return new Error(
      'The agent is terminated: register another one and set its DROVER_AGENT_ID and token.',
    );
  }
  if (hasCode(error, 'agent_in_use')) {
    const another =
      config.agentId === undefined ? 'DROVER_WORKER_DATA_DIR that is no copy' : 'DROVER_AGENT_ID';
    return new Error(
      `Another worker runs as this agent: ${reason} Give this worker another ${another}.`,
    );
  }
  if (isUnauthenticated(error)) {
    return new Error(
      `${config.apiUrls.join(', ')} does not accept ${nameOf(credentials)} (${reason}): set a valid one.`,
    );
  }
  if (hasCode(error, 'insufficient_scope', 'forbidden')) {
    const name = nameOf(credentials);
    return new Error(
      `T${name.slice(1)} cannot register an agent (${reason}): ` +
        'create an API key with the scope agents:write.',
    );
  }
  if (hasCode(error, 'agent_not_found')) {
    return new Error(
      `The agent ${config.agentId} of DROVER_AGENT_ID does not belong to ${nameOf(credentials)}: ` +
        'set the id of its agent.',
    );
  }
  return new Error(`The server does not let this worker register: ${reason}`);
}

function nameOf(credentials: Credentials): string {
  if (credentials.kind === 'key') return 'the key in DROVER_API_KEY';
  const { tokenFile } = credentials;
  return tokenFile === undefined
    ? 'the token in DROVER_AGENT_TOKEN'
    : `the token in ${tokenFile} (DROVER_AGENT_TOKEN_FILE)`;
}
