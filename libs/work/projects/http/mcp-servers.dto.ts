import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { Text, TextList } from '#lib/http';
import { SecretHeaders, Secrets } from '#lib/secrets';
import type { McpServerSetting } from '../domain/mcp-servers.js';

const NAME = { regexp: /^[a-z][a-z0-9-]*$/, words: 'begin with a-z and have only a-z, 0-9 and -' };

/** A server of tools in a request. */
export class NewMcpServerDto implements McpServerSetting {
  @Text({
    max: 32,
    pattern: NAME,
    description: 'Its name in the names of its tools. Drover has the name `drover`.',
    example: 'issues',
  })
  name!: string;

  @Text({
    max: 1_000,
    optional: true,
    description:
      'A program that speaks the Model Context Protocol over stdio. It runs inside the sandbox of the ' +
      'session. Either `command` or `url` is required.',
    example: 'npx',
  })
  command?: string;

  @TextList({
    item: { min: 0, max: 4_000 },
    maxItems: 100,
    optional: true,
    description: 'The arguments of the program. No shell parses them.',
    example: ['-y', '@example/issues-mcp'],
  })
  args?: string[];

  @Secrets({
    optional: true,
    description:
      'The variables of the program. Their values are sealed, and never shown. A "[redacted]" keeps ' +
      'the value of the same program.',
    example: { ISSUES_TOKEN: 'the token' },
  })
  env?: Record<string, string>;

  @Text({
    max: 2_000,
    optional: true,
    description:
      'The address of a server with streamable HTTP. The network policy of the session must allow its host.',
    example: 'https://mcp.example.com/mcp',
  })
  url?: string;

  @SecretHeaders({
    optional: true,
    description: 'The headers of each request to `url`, with the same secrecy as `env`',
    example: { Authorization: 'Bearer the-token' },
  })
  headers?: Record<string, string>;
}

/** The optional values of `env` or `headers`. */
const SECRETS: ApiPropertyOptions = {
  type: 'object',
  additionalProperties: { type: 'string' },
  description: 'Each value is "[redacted]", except for the host of a live run.',
};

/** A server of tools in an answer. Only the host of a live run gets the values of `env` and `headers`. */
export class McpServerDto implements McpServerSetting {
  @ApiProperty() name!: string;
  @ApiProperty({ type: String, required: false }) command?: string;
  @ApiProperty({ type: [String], required: false }) args?: string[];
  @ApiPropertyOptional(SECRETS)
  env?: Record<string, string>;
  @ApiProperty({ type: String, required: false }) url?: string;
  @ApiPropertyOptional(SECRETS)
  headers?: Record<string, string>;
}
