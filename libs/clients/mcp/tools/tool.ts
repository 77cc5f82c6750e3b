import type { ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import type { z } from 'zod';
import type { components, DroverClient } from '#lib/api-client';

/** Whom the credentials of a client name, as `GET /auth/caller` tells. */
export type McpCaller = components['schemas']['Caller'];
type Scope = NonNullable<McpCaller['scopes']>[number];

/** What a tool works with. Its requests carry the caller's own credentials, and no others. */
export interface Context {
  client: DroverClient;
  signal: AbortSignal;
}

export interface RunContext extends Context {
  runId: string;
  taskId: string;
}

/** A person's tools are for users, and for API keys that also have the scope. */
export interface PersonsAccess {
  role: 'VIEWER' | 'MEMBER';
  scope: Scope;
}

interface Spec<Input extends z.ZodObject, C extends Context> {
  name: string;
  title: string;
  description: string;
  /** The route that it asks, as the OpenAPI document names it: `GET /api/v1/agents`. It alone decides about rights. */
  route: string;
  input: Input;
  /** What it does to the fleet. Tools that only read say no more than that. */
  effect: 'reads' | 'adds' | 'changes' | 'ends';
  /** Whether the same call again changes nothing more. Tools that read are. */
  idempotent?: boolean;
  /** What is said above the answer, in place of `UNTRUSTED`. */
  notice?: string;
  call(context: C, input: z.output<Input>): Promise<object>;
}

export interface Tool {
  name: string;
  title: string;
  description: string;
  route: string;
  /** `run`: for what executes a run. */
  for: 'run' | PersonsAccess;
  input: z.ZodObject;
  annotations: ToolAnnotations;
  notice: string | undefined;
  call(context: Context, caller: McpCaller, input: unknown): Promise<object>;
}

/** A tool for what executes a run. It speaks of the run of its token, which no argument can change. */
export function runTool<Input extends z.ZodObject>(spec: Spec<Input, RunContext>): Tool {
  return {
    ...shownOf(spec),
    for: 'run',
    call: (context, { runId, taskId }, input) => {
      if (runId === null || taskId === null) throw new Error(`${spec.name} is for runs`);
      return spec.call({ ...context, runId, taskId }, input as z.output<Input>);
    },
  };
}

/** A tool for people's programs. */
export function personTool<Input extends z.ZodObject>(
  access: PersonsAccess,
  spec: Spec<Input, Context>,
): Tool {
  return {
    ...shownOf(spec),
    for: access,
    call: (context, _, input) => spec.call(context, input as z.output<Input>),
  };
}

function shownOf<Input extends z.ZodObject, C extends Context>(spec: Spec<Input, C>) {
  const { name, title, description, route, input, effect, notice } = spec;
  const annotations: ToolAnnotations = {
    title,
    readOnlyHint: effect === 'reads',
    destructiveHint: effect === 'ends',
    idempotentHint: effect === 'reads' || (spec.idempotent ?? false),
    // Nothing but one server of Drover is asked.
    openWorldHint: false,
  };
  return { name, title, description, route, input, notice, annotations };
}

/** Whether it is offered to the caller. That saves a refusal; whether the caller may is decided by the route. */
export function isOffered(tool: Tool, caller: McpCaller): boolean {
  if (tool.for === 'run') return caller.kind === 'run';
  const { role, scope } = tool.for;
  const isPersons = caller.kind === 'user' || caller.kind === 'api_key';
  if (!isPersons || (role === 'MEMBER' && caller.role === 'VIEWER')) return false;
  return caller.scopes === null || caller.scopes.includes(scope);
}
