import type { Entry } from './program.js';

/** Every first word. The code of a command is loaded on use. */
export const COMMANDS: readonly Entry[] = [
  { name: 'up', summary: 'Start a server, workers and a gateway on this machine', load: stack },
  { name: 'down', summary: 'Stop the processes that `up` started', load: stack },
  { name: 'status', summary: 'Show local processes and the coordinator', load: stack },
  {
    name: 'orchestrator',
    summary: 'Start, stop, inspect and reconcile the control plane',
    load: stack,
  },
  {
    name: 'worker',
    summary: 'Start, stop and list workers',
    load: workers,
  },
  { name: 'attention', summary: 'Show what needs your attention', load: attention },
  { name: 'run', summary: 'Run a command as a task and follow it', load: run },
  { name: 'task', summary: 'Create, follow and manage tasks', load: tasks },
  {
    name: 'dead-letter',
    summary: 'Inspect and replay tasks that failed for good',
    load: deadLetter,
  },
  { name: 'template', summary: 'Manage templates for tasks', load: templates },
  { name: 'schedule', summary: 'Create tasks at due times', load: schedules },
  {
    name: 'attach',
    summary: 'Follow the conversation of a coding agent and talk to it',
    load: attach,
  },
  { name: 'artifact', summary: 'List and download files that runs kept', load: artifacts },
  { name: 'question', summary: 'List and answer questions of runs', load: questions },
  {
    name: 'review',
    summary: 'Review and merge what tasks change in repositories',
    load: changes,
  },
  { name: 'change', summary: 'Move the changes of tasks by hand', load: changes },
  { name: 'claim', summary: 'Claim a task for the agent of the token', load: claims },
  { name: 'claim:renew', summary: 'Renew the lease of a claimed task', load: claims },
  { name: 'claim:release', summary: 'Release a claimed task', load: claims },
  { name: 'agent', summary: 'Register, inspect and terminate agents', load: agents },
  {
    name: 'coordinator',
    summary: 'Inspect the coordinator, run recovery, pause tasks',
    load: coordinator,
  },
  { name: 'kill-switch', summary: 'End all live runs and start none', load: killSwitch },
  { name: 'budget', summary: 'Manage token budgets', load: budgets },
  {
    name: 'usage',
    summary: 'Print token usage, and what merged changes cost',
    load: usage,
  },
  { name: 'provider', summary: 'Manage keys of providers of models', load: providers },
  {
    name: 'credential',
    summary: 'Manage credentials for registries, APIs and MCP servers',
    load: credentials,
  },
  { name: 'prompt', summary: 'Preview prompts and set their template', load: prompts },
  { name: 'project', summary: 'Manage projects', load: projects },
  {
    name: 'repo',
    summary: 'Manage the repositories on which agents work',
    load: repositories,
  },
  { name: 'user', summary: 'Manage users, and your password', load: users },
  {
    name: 'webhook',
    summary: 'Manage webhooks and their deliveries',
    load: webhooks,
  },
  { name: 'events', summary: 'Follow the events of the workspace', load: events },
  { name: 'workspace', summary: 'Manage workspaces and their members', load: workspaces },
  { name: 'key', summary: 'Manage API keys of the workspace', load: workspaces },
  { name: 'audit', summary: 'List changes and refused requests', load: audit },
  { name: 'login', summary: 'Sign in to a server and save it as a context', load: contexts },
  { name: 'logout', summary: 'Sign out and remove the context', load: contexts },
  { name: 'whoami', summary: 'Print the current server and credentials', load: contexts },
  { name: 'context', summary: 'Manage contexts: servers with their credentials', load: contexts },
  { name: 'api', summary: 'Send a request to the API', load: api },
  { name: 'mcp', summary: 'Serve MCP over stdio', load: mcp },
  {
    name: 'completion',
    summary: 'Print shell completions for bash, zsh or fish',
    load: completion,
  },
];

function stack() {
  return import('./commands/stack.js');
}
function workers() {
  return import('./commands/workers.js');
}
function users() {
  return import('./commands/users.js');
}
function attention() {
  return import('./commands/attention.js');
}
function run() {
  return import('./commands/run.js');
}
function tasks() {
  return import('./commands/tasks.js');
}
function changes() {
  return import('./commands/changes.js');
}
function deadLetter() {
  return import('./commands/dead-letter.js');
}
function killSwitch() {
  return import('./commands/kill-switch.js');
}
function templates() {
  return import('./commands/templates.js');
}
function schedules() {
  return import('./commands/schedules.js');
}
function attach() {
  return import('./commands/attach.js');
}
function artifacts() {
  return import('./commands/artifacts.js');
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
function usage() {
  return import('./commands/usage.js');
}
function credentials() {
  return import('./commands/credentials.js');
}

function providers() {
  return import('./commands/providers.js');
}
function prompts() {
  return import('./commands/prompts.js');
}
function projects() {
  return import('./commands/projects.js');
}
function repositories() {
  return import('./commands/repositories.js');
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
  const { createCompletion } = await import('./commands/completion.js');
  return { default: createCompletion(COMMANDS) };
}
