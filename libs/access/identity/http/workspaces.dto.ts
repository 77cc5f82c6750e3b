import {
  Flag,
  HostList,
  Id,
  WholeId,
  Int,
  ModelList,
  OneOf,
  OneOfList,
  PageQuery,
  Text,
} from '#lib/http';
import { type MemberRole, type Network, NETWORKS } from '#lib/kernel';
import { EMAIL_PATTERN } from '../domain/email.js';
import { MEMBER_ROLES } from '../domain/roles.js';
import { type Scope, SCOPES } from '../domain/scopes.js';
import { SLUG_PATTERN } from '../domain/slug.js';

export class CreateWorkspaceDto {
  @Text({ max: 200 }) name!: string;
  @Text({
    max: 63,
    pattern: SLUG_PATTERN,
    optional: true,
    description: 'The slug. If it is left out, the server derives it from the name.',
  })
  slug?: string;
}

export class ChangeWorkspaceDto {
  @Text({ max: 200, optional: true }) name?: string;
  @Flag({
    optional: true,
    description:
      'Whether runs can create tasks with `inputContext.command` or `acceptanceScript`, which workers ' +
      'of the workspace execute.',
  })
  allowRunCommands?: boolean;
  @OneOf(NETWORKS, {
    optional: true,
    description:
      'The most that sessions of the workspace get. With `none` a sandbox reaches only the server, ' +
      "with `allow` also `allowedHosts`, with `host` it shares the machine's network. The strictest " +
      'of installation, workspace, project and task applies.',
  })
  network?: Network;
  @HostList({
    optional: true,
    description:
      'The hosts that sessions of the workspace reach with `allow`: names, `*.` and a name for all names ' +
      'below it, or `*`, each with a port unless it is 80 or 443. A session reaches a host that all ' +
      'levels with `allow` name.',
  })
  allowedHosts?: string[];
  @ModelList({
    optional: true,
    description:
      'The models that coding agents of the workspace can ask: names, in which `*` stands for any ' +
      'characters. A name allows all versions of its model. A model must be allowed by workspace ' +
      'and project. `*` alone, the default, allows every model.',
  })
  allowedModels?: string[];
}

export class AddMemberDto {
  @WholeId() userId!: string;
  @OneOf(MEMBER_ROLES) role!: MemberRole;
}

export class CreateInvitationDto {
  @Text({
    max: 320,
    pattern: EMAIL_PATTERN,
    example: 'ada@example.com',
    optional: true,
    description: 'The only address that can accept. If it is left out, the holder of the link can.',
  })
  email?: string;
  @OneOf(MEMBER_ROLES) role!: MemberRole;
}

export class ChangeMemberDto {
  @OneOf(MEMBER_ROLES) role!: MemberRole;
}

export class KeepHooksQuery {
  @Flag({
    optional: true,
    description: 'Whether the hooks that the user created stay enabled; false by default.',
  })
  keepHooks?: boolean;
}

export class AgentTokensQuery extends PageQuery {
  @Id('members', { optional: true, description: 'Only tokens that this user issued.' })
  issuedBy?: string;
  @Id('agents', { optional: true, description: 'Only tokens of this agent.' }) agentId?: string;
}

export class RevokeApiKeyQuery {
  @Flag({
    optional: true,
    description:
      'Whether the agent tokens that the key issued stay valid until they expire; false by default.',
  })
  keepTokens?: boolean;
}

export class CreateApiKeyDto {
  @Text({ max: 200 }) name!: string;
  @OneOfList(SCOPES, { minItems: 1, maxItems: SCOPES.length }) scopes!: Scope[];
  @OneOf(['ADMIN', 'MEMBER', 'VIEWER'], {
    optional: true,
    description: 'The role; MEMBER by default.',
  })
  role?: 'ADMIN' | 'MEMBER' | 'VIEWER';
  @Int(60, 3_650 * 86_400, {
    optional: true,
    description: 'The lifetime in seconds; 7776000 (90 days) by default.',
  })
  expiresInSeconds?: number;
}
