import {
  ApiProperty,
  type ApiPropertyOptions,
  DECORATORS,
  OmitType,
  PartialType,
} from '@nestjs/swagger';
import { Nested, PageQuery, Text } from '#lib/http';
import type { TaskTemplate } from '../../domain/template.js';
import type { TemplateRequest, TemplateView } from '../../templates/task-templates.js';
import { CreateTaskDto } from './task-requests.dto.js';

const TASK =
  'The fields of POST /agent-tasks. Secrets are encrypted and never shown. The name of the template is the title of ' +
  'a task without one.';

const id = { type: String, format: 'uuid' } as const;
const time = { type: String, format: 'date-time' } as const;
const text: ApiPropertyOptions = { type: String, nullable: true };

class TemplateTaskDto extends OmitType(CreateTaskDto, [
  'title',
  'parentTaskId',
  'blocksParent',
] as const) {
  @Text({ max: 255, optional: true, description: 'The name of the template by default' })
  title?: string;
}

export class CreateTaskTemplateDto implements TemplateRequest {
  @Text({ max: 200, description: 'The name, which is unique in the workspace', example: 'deploy' })
  name!: string;
  @Text({ max: 2_000, optional: true, nullable: true, description: 'What the template is for' })
  description?: string | null;
  @Nested(() => TemplateTaskDto, { description: TASK }) task!: TemplateTaskDto;
}

/** Absent fields stay. */
export class ChangeTaskTemplateDto implements Partial<TemplateRequest> {
  @Text({ max: 200, optional: true }) name?: string;
  @Text({ max: 2_000, optional: true, nullable: true }) description?: string | null;
  @Nested(() => TemplateTaskDto, {
    optional: true,
    description: `${TASK} It replaces the whole task; a "[redacted]" keeps its value.`,
  })
  task?: TemplateTaskDto;
}

/** Fields that replace those of the template. Null leaves a field out. */
export class TaskOfTemplateDto extends PartialType(
  OmitType(CreateTaskDto, ['parentTaskId', 'blocksParent'] as const),
) {}

// PartialType documents each field as optional. Here each of them can be null as well.
const { API_MODEL_PROPERTIES: FIELD, API_MODEL_PROPERTIES_ARRAY: NAMES } = DECORATORS;
const { prototype } = TaskOfTemplateDto;
for (const key of Reflect.getMetadata(NAMES, prototype) as string[]) {
  const name = key.slice(1);
  const field = Reflect.getMetadata(FIELD, prototype, name) as object;
  Reflect.defineMetadata(FIELD, { ...field, nullable: true }, prototype, name);
}

export class ListTaskTemplatesQuery extends PageQuery {
  @Text({ max: 200, optional: true, description: 'Only the template of this name.' })
  name?: string;
}

export class TaskTemplateDto implements TemplateView {
  @ApiProperty(id) id!: string;
  @ApiProperty() name!: string;
  @ApiProperty(text) description!: string | null;
  @ApiProperty({ type: 'object', additionalProperties: true, description: TASK })
  task!: TaskTemplate;
  @ApiProperty(id) createdBy!: string;
  @ApiProperty({ type: 'integer' }) version!: number;
  @ApiProperty(time) createdAt!: string;
  @ApiProperty(time) updatedAt!: string;
}

export class TaskTemplatePageDto {
  @ApiProperty({ type: [TaskTemplateDto] }) items!: TaskTemplateDto[];
  @ApiProperty(text) nextCursor!: string | null;
}
