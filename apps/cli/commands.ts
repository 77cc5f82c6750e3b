import type { Entry } from './program.js';

/** Every first word. What a command does is loaded when it is asked for. */
export const COMMANDS: readonly Entry[] = [
  { name: 'up', summary: 'Start a server, workers and a gateway here', load: stack },
  { name: 'down', summary: 'End what `up` started', load: stack },
  { name: 'status', summary: 'Say what runs here, and what the coordinator does', load: stack },
  {
    name: 'orchestrator',
    summary: 'Start, stop, ask and reconcile the control plane',
    load: stack,
  },
  {
    name: 'worker',
    summary: 'Start and stop workers on this machine, list them all',
    load: workers,
  },
  { name: 'run', summary: 'Run a command as a task, and follow it', load: run },
  { name: 'task', summary: 'Create, follow and command tasks', load: tasks },
  { name: 'question', summary: 'Questions that runs ask people', load: questions },
  { name: 'claim', summary: 'Claim a task for an agent by hand', load: claims },
  { name: 'claim:renew', summary: 'Renew the lease of a claimed task', load: claims },
  { name: 'claim:release', summary: 'Give a claimed task back', load: claims },
  { name: 'agent', summary: 'Register, look at and end agents', load: agents },
  { name: 'coordinator', summary: 'Look at the coordinator, recover, pause', load: coordinator },
  { name: 'budget', summary: 'Limit tokens, and see how far they reach', load: budgets },
  {
    name: 'usage',
    summary: 'Say what was used, by day, agent, task, project or model',
    load: budgets,
  },
  { name: 'project', summary: 'Projects that tasks and budgets belong to', load: projects },
  {
    name: 'webhook',
    summary: 'Have events sent to a URL, see and replay deliveries',
    load: webhooks,
  },
  { name: 'events', summary: 'Follow what happens', load: events },
  { name: 'workspace', summary: 'Workspaces and their members', load: workspaces },
  { name: 'key', summary: 'API keys of the workspace', load: workspaces },
  { name: 'audit', summary: 'Who has changed what, and who was refused', load: audit },
  { name: 'login', summary: 'Sign in to a server, and keep it as a context', load: contexts },
  { name: 'logout', summary: 'End the session of a context, and forget it', load: contexts },
  { name: 'whoami', summary: 'Say whose credentials are used, and where', load: contexts },
  { name: 'context', summary: 'Servers that are known here, and which is used', load: contexts },
  { name: 'api', summary: 'Send any request of the API', load: api },
  { name: 'mcp', summary: 'Be an MCP server for a model', load: mcp },
  { name: 'completion', summary: 'Print completions for bash, zsh or fish', load: completion },
];

function stack() {
  return import('./commands/stack.js');
}
function workers() {
  return import('./commands/workers.js');
}
function run() {
  return import('./commands/run.js');
}
function tasks() {
  return import('./commands/tasks.js');
}
function questions() {
  return import('./commands/questions.js');
}
function claims() {
  return import('./commands/claims.js');
}
function agents() {
  return import('./commands/agents.js');
}
function coordinator() {
  return import('./commands/coordinator.js');
}
function budgets() {
  return import('./commands/budgets.js');
}
function projects() {
  return import('./commands/projects.js');
}
function webhooks() {
  return import('./commands/webhooks.js');
}
function events() {
  return import('./commands/events.js');
}
function workspaces() {
  return import('./commands/workspaces.js');
}
function audit() {
  return import('./commands/audit.js');
}
function contexts() {
  return import('./commands/contexts.js');
}
function api() {
  return import('./commands/api.js');
}
function mcp() {
  return import('./commands/mcp.js');
}
async function completion() {
  const { completionOf } = await import('./commands/completion.js');
  return { default: completionOf(COMMANDS) };
}
