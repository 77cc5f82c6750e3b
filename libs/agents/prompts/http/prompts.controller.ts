import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { reporterOf } from '#lib/runs';
import { Prompts } from '../prompts/prompts.js';
import {
  CreateRunPromptDto,
  FirstWordsDto,
  PreviewPromptDto,
  PromptPreviewDto,
  RunPromptDto,
} from './prompts.dto.js';

@ApiTags('Prompts')
@Controller()
export class PromptsController {
  constructor(private readonly prompts: Prompts) {}

  @Post('agent-tasks/:id/prompt')
  @HttpCode(200)
  @Auth({ scope: 'tasks:read' })
  @ApiOperation({
    operationId: 'getPromptPreview',
    summary: 'Preview the prompt that the next run of a task receives',
  })
  @ApiOkResponse({ type: PromptPreviewDto })
  @ApiErrors('validation_failed', 'task_not_found')
  preview(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() { template }: PreviewPromptDto,
  ) {
    return this.prompts.preview(caller, id, template);
  }

  @Post('runs/:runId/prompt')
  @HttpCode(200)
  @Auth({ kinds: ['agent', 'run'] })
  @ApiOperation({
    operationId: 'createRunPrompt',
    summary: 'Make the prompt of a live run, and keep it with the run',
  })
  @ApiOkResponse({ type: FirstWordsDto })
  @ApiErrors('validation_failed', 'run_not_found', 'stale_run', 'secrets_unreadable')
  create(
    @CurrentCaller() caller: Caller,
    @UuidParam('runId') runId: string,
    @Body() body: CreateRunPromptDto,
  ) {
    const isHost = caller.kind === 'agent';
    return this.prompts.create(reporterOf(caller, runId), body, { isHost });
  }

  @Get('runs/:runId/prompt')
  @Auth({ scope: 'tasks:read' })
  @ApiOperation({ operationId: 'getRunPrompt', summary: 'Get the prompt that a run received' })
  @ApiOkResponse({ type: RunPromptDto })
  @ApiErrors('run_not_found', 'prompt_not_found')
  get(@CurrentCaller() caller: Caller, @UuidParam('runId') runId: string) {
    return this.prompts.ofRun(caller, runId);
  }
}
