import type { FoundingDocument } from '../promise.js';
import * as api from './agent-orchestration-api.js';
import * as data from './agent-orchestration-data.js';
import * as rules from './agent-orchestration-rules.js';
import * as manager from './worker-manager.js';
import * as orchestration from './worker-orchestration.js';
import * as service from './worker-service.js';
import * as stateMachine from './worker-state-machine.js';

/** Every promise of the five documents, in the order of docs/seeds.md. */
export const DOCUMENTS: readonly FoundingDocument[] = [
  {
    title: 'Agent orchestration layer',
    sections: [
      api.TASK_REQUESTS,
      api.AGENT_REQUESTS,
      api.COORDINATOR_REQUESTS,
      api.WEBHOOK,
      data.TASK_STATES,
      data.ROWS,
      data.KEYS,
      data.CHANNELS,
      rules.COORDINATION,
      rules.RECOVERY_PATTERNS,
      rules.BUDGET_RULES,
      rules.SECURITY,
      rules.MONITORING,
    ],
  },
  {
    title: 'Worker orchestration system',
    sections: [
      orchestration.WORKER_PROTOCOL,
      orchestration.WORKER_COMMANDS,
      orchestration.WORKER_SERVICES,
      orchestration.WORKER_DEFAULTS,
      orchestration.RECONCILIATION,
      orchestration.WORKER_SHUTDOWN,
      orchestration.WORKER_REQUIREMENTS,
    ],
  },
  {
    title: 'Worker manager',
    sections: [
      manager.MANAGER_COMMANDS,
      manager.DATA_PLANE,
      manager.LIFECYCLE,
      manager.QUOTAS,
      manager.IMAGES,
    ],
  },
  {
    title: 'Worker state machine',
    sections: [
      stateMachine.RUN_STATES_PROMISED,
      stateMachine.RUN_COMMANDS,
      stateMachine.TIMEOUTS,
      stateMachine.INTEGRATION,
    ],
  },
  {
    title: 'Worker service',
    sections: [service.SLOTS, service.POLLING, service.SESSIONS, service.FAILURES],
  },
];
