import { expect, it } from '@jest/globals';
import { OPERATION_ID, operationId } from './operation-id.js';

it.each([
  ['AgentsController', 'list', 'listAgents'],
  ['AgentsController', 'get', 'getAgent'],
  ['TaskCreationController', 'create', 'createTask'],
  ['TaskQueriesController', 'list', 'listTasks'],
  ['TaskDependenciesController', 'remove', 'removeTaskDependency'],
  ['ApiKeysController', 'revoke', 'revokeApiKey'],
  ['ApiKeysController', 'list', 'listApiKeys'],
  ['TaskDependenciesController', 'list', 'listTaskDependencies'],
  ['ProjectsController', 'createMilestone', 'createMilestone'],
  ['AgentsController', 'health', 'health'],
])('the operation of %s.%s is %s', (controller, handler, id) => {
  expect(operationId(controller, handler)).toBe(id);
});

it.each([
  ['createTask', true],
  ['listApiKeys', true],
  ['health', false],
  ['create', false],
  ['agentHealth', false],
  ['settle', false],
])('whether %s is an operation id: %s', (id, isOne) => {
  expect(OPERATION_ID.test(id)).toBe(isOne);
});
