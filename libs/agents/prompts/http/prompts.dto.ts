import { ApiProperty } from '@nestjs/swagger';
import { WholeId, Int, Nested, OneOf, Text, TextList } from '#lib/http';
import type { Sent } from '#lib/kernel';
import { type McpServerSetting, McpServerDto } from '#lib/projects';
import type { CallsUpTo } from '../domain/past-calls.js';
import { type Beginning, BEGINNINGS, SECTION_NAMES } from '../domain/sections.js';
import { MAX_TEMPLATE } from '../domain/template.js';
import type { TemplateView } from '../prompts/prompt-templates.js';
import type { FirstWords, PromptView, RunPromptView, SessionStart } from '../prompts/prompts.js';

const TEMPLATE = `A Mustache template with the placeholders ${SECTION_NAMES.join(', ')}.`;
const SOURCES = ['workspace', 'default'] as const;

export class PromptTemplateDto implements Sent<TemplateView> {
  @ApiProperty({ type: String, description: TEMPLATE }) template!: string;
  @ApiProperty({ enum: SOURCES, description: 'The owner of the template' })
  source!: (typeof SOURCES)[number];
  @ApiProperty({ type: String, format: 'date-time', nullable: true }) updatedAt!: string | null;
  @ApiProperty({ type: 'integer', description: '0 for the template of Drover' }) version!: number;
}

export class SetPromptTemplateDto {
  @Text({ max: MAX_TEMPLATE, description: TEMPLATE, example: '# {{title}}\n\n{{instructions}}' })
  template!: string;
}

export class PreviewPromptDto {
  @Text({
    max: MAX_TEMPLATE,
    optional: true,
    description: 'A template to try, instead of the template of the workspace',
    example: '# {{title}}\n\n{{instructions}}',
  })
  template?: string;
}

export class CallsUpToDto implements CallsUpTo {
  @WholeId({ description: 'A run of the task, or of the task that it continues' })
  runId!: string;

  @Int(0, 1_000_000_000, { description: 'The number of its first tool calls, as in its log' })
  calls!: number;

  @Int(0, 1_000_000_000, {
    optional: true,
    description: 'The position of its last message of a person; 0 by default',
  })
  messages?: number;
}

export class CreateRunPromptDto implements SessionStart {
  @OneOf(BEGINNINGS, {
    optional: true,
    description:
      'The conversation that the prompt begins: a new one (default), that of the last run of the ' +
      'task, or that of the finished task that the task continues',
  })
  conversation?: Beginning;

  @TextList({
    item: { max: 1_000 },
    maxItems: 100,
    optional: true,
    description: 'Files of the last working folder that the run does not have',
  })
  lostFiles?: string[];

  @Nested(() => CallsUpToDto, {
    optional: true,
    description:
      'The tool calls and messages that the conversation surely has: the first ones of a run, and ' +
      'those of all earlier runs. The prompt names the later ones.',
  })
  upTo?: CallsUpToDto;
}

export class PromptPreviewDto implements PromptView {
  @ApiProperty({ type: String, format: 'uuid' }) taskId!: string;
  @ApiProperty({ type: String, description: 'The prompt, without secrets' }) prompt!: string;
}

export class RunPromptDto extends PromptPreviewDto implements Sent<RunPromptView> {
  @ApiProperty({ type: String, format: 'uuid' }) runId!: string;
  @ApiProperty({ type: String, format: 'date-time' }) createdAt!: string;
}

export class FirstWordsDto extends RunPromptDto implements Sent<FirstWords> {
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The standing instructions of the project of the task',
  })
  instructions!: string | null;

  @ApiProperty({
    type: [McpServerDto],
    description:
      'The MCP servers of the project of the task, with their secrets. A run gets none by its own token.',
  })
  mcpServers!: McpServerSetting[];

  @ApiProperty({
    type: [String],
    description:
      'The ids of up to 20 attachments of messages to earlier runs of the task, and to those of the ' +
      'tasks that it continues, the latest first',
  })
  attachments!: string[];
}
