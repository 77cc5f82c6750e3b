import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { TaskExplainer } from '../explaining/task-explainer.js';
import { ExplanationDto } from './explanation.dto.js';

@ApiTags('Tasks')
@Controller('agent-tasks')
export class ExplainController {
  constructor(private readonly explainer: TaskExplainer) {}

  @Get(':id/explain')
  @Auth({ kinds: ['user', 'api_key', 'agent', 'run'], scope: 'tasks:read' })
  @ApiOperation({
    operationId: 'explainTask',
    summary: 'Explain why a task is not running, and estimate its start and end',
  })
  @ApiOkResponse({ type: ExplanationDto })
  @ApiErrors('task_not_found')
  explain(@CurrentCaller() caller: Caller, @UuidParam() id: string) {
    return this.explainer.explain(caller, id);
  }
}
