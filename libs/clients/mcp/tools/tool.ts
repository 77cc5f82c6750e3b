import type { ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import type { z } from 'zod';
import type { components, DroverClient } from '#lib/api-client';

/** The caller of the credentials, as `GET /auth/caller` returns it. */
export type McpCaller = components['schemas']['Caller'];
type Scope = NonNullable<McpCaller['scopes']>[number];

/** The context of a tool call. Its requests carry the caller's credentials only. */
export interface Context {
  client: DroverClient;
  signal: AbortSignal;
}

export interface RunContext extends Context {
  runId: string;
  taskId: string;
}

/** Access of a person's tool: the role of a user, and for an API key also the scope. */
export interface PersonAccess {
  role: 'VIEWER' | 'MEMBER' | 'ADMIN';
  scope: Scope;
}

/** The part of a tool that a model reads. */
interface Offer {
  description: string;
  input: z.ZodObject;
}

interface Spec<Input extends z.ZodObject, C extends Context> {
  name: string;
  title: string;
  description: string;
  /** The route of the tool, as in OpenAPI: `GET /api/v1/agents`. It decides about rights. */
  route: string;
  input: Input;
  /** The effect on the fleet. It determines the annotations of the tool. */
  effect: 'reads' | 'adds' | 'changes' | 'ends';
  /** Whether a repeated call has no further effect. Reading tools are idempotent. */
  idempotent?: boolean;
  /** The tool of a coding agent. Default: the same. Null: the host does this for its runs. */
  hosted?: Offer | null;
  /** The notice above the answer, instead of `UNTRUSTED`. */
  notice?: string;
  call(context: C, input: z.output<Input>): Promise<object>;
}

export interface Tool extends Offer {
  name: string;
  title: string;
  route: string;
  /** `run`: a tool for the process of a run. */
  for: 'run' | PersonAccess;
  annotations: ToolAnnotations;
  /** The offer to a coding agent, whose host starts and ends the run. Null: none. */
  hosted: Offer | null;
  notice: string | undefined;
  call(context: Context, caller: McpCaller, input: unknown): Promise<object>;
}

/** Defines a tool for the process of a run. It acts on the run of its token only. */
export function runTool<Input extends z.ZodObject>(spec: Spec<Input, RunContext>): Tool {
  return {
    ...toMetadata(spec),
    for: 'run',
    call: (context, { runId, taskId }, input) => {
      if (runId === null || taskId === null) throw new Error(`The tool ${spec.name} needs a run`);
      return spec.call({ ...context, runId, taskId }, input as z.output<Input>);
    },
  };
}

/** Defines a tool for a person's assistant. */
export function personTool<Input extends z.ZodObject>(
  access: PersonAccess,
  spec: Spec<Input, Context>,
): Tool {
  return {
    ...toMetadata(spec),
    for: access,
    call: (context, _, input) => spec.call(context, input as z.output<Input>),
  };
}

function toMetadata<Input extends z.ZodObject, C extends Context>(spec: Spec<Input, C>) {
  const { name, title, description, route, input, effect, notice } = spec;
  const { hosted = { description, input } } = spec;
  const annotations: ToolAnnotations = {
    title,
    readOnlyHint: effect === 'reads',
    destructiveHint: effect === 'ends',
    idempotentHint: effect === 'reads' || (spec.idempotent ?? false),
    // The tool calls one Drover server only.
    openWorldHint: false,
  };
  return { name, title, description, route, input, hosted, notice, annotations };
}

const RANKS: readonly string[] = ['VIEWER', 'MEMBER', 'ADMIN', 'OWNER'];

/** Whether the caller sees the tool. This avoids refusals, but the route decides about rights. */
export function isOffered(tool: Tool, caller: McpCaller): boolean {
  if (tool.for === 'run') return caller.kind === 'run';
  const { role, scope } = tool.for;
  const isPerson = caller.kind === 'user' || caller.kind === 'api_key';
  if (!isPerson || RANKS.indexOf(caller.role ?? 'VIEWER') < RANKS.indexOf(role)) return false;
  return caller.scopes === null || caller.scopes.includes(scope);
}
