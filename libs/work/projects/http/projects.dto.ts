import {
  Flag,
  HostList,
  ModelList,
  NestedList,
  OneOf,
  PageQuery,
  Text,
  Timestamp,
} from '#lib/http';
import { type Network, NETWORKS } from '#lib/kernel';
import { NewMcpServerDto } from './mcp-servers.dto.js';

export class ListQuery extends PageQuery {
  @Flag({
    optional: true,
    description:
      'true: only archived ones. false: only ones that are not archived. All by default.',
  })
  archived?: boolean;
}

export class CreateProjectDto {
  @Text({ max: 200 }) name!: string;
  @Text({ min: 0, max: 10_000, optional: true, nullable: true }) description?: string | null;
}

class ChangeTextsDto {
  @Text({ max: 200, optional: true }) name?: string;
  @Text({ min: 0, max: 10_000, optional: true, nullable: true }) description?: string | null;
}

export class ChangeProjectDto extends ChangeTextsDto {
  @OneOf(NETWORKS, {
    optional: true,
    description:
      'The most that sessions of the project get. The stricter of workspace and project applies. Only ' +
      'an OWNER or ADMIN sets `allow` or `host`.',
  })
  network?: Network;
  @HostList({
    optional: true,
    description:
      'The hosts that sessions of the project reach with `allow`: names, `*.` and a name for all names ' +
      'below it, or `*`, each with a port unless it is 80 or 443. A session reaches a host that all ' +
      'levels with `allow` name. Only an OWNER or ADMIN sets them.',
  })
  allowedHosts?: string[];
  @Text({
    max: 20_000,
    optional: true,
    nullable: true,
    description:
      'Standing instructions for the coding agents of the project, like an `AGENTS.md`. They apply to ' +
      'runs that start from now on.',
  })
  instructions?: string | null;
  @ModelList({
    optional: true,
    description:
      'The models that coding agents of the project can ask: names, in which `*` stands for any ' +
      'characters. A name allows all versions of its model. A model must be allowed by workspace ' +
      'and project. `*` alone, the default, allows every model. Only an OWNER or ADMIN sets them.',
  })
  allowedModels?: string[];
  @NestedList(() => NewMcpServerDto, {
    maxItems: 20,
    optional: true,
    description:
      'Servers of tools (MCP) for the coding agents of the project, in addition to that of Drover. They ' +
      'replace the earlier ones, and apply to runs that start from now on. Only an OWNER or ADMIN sets them.',
  })
  mcpServers?: NewMcpServerDto[];
}

export class CreateMilestoneDto extends CreateProjectDto {
  @Timestamp({ optional: true, nullable: true }) dueAt?: string | null;
}

export class ChangeMilestoneDto extends ChangeTextsDto {
  @Timestamp({ optional: true, nullable: true }) dueAt?: string | null;
}
