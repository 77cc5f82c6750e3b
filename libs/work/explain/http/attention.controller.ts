import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { Attention } from '../attention/attention.js';
import { AttentionDto } from './attention.dto.js';

@ApiTags('Tasks')
@Controller('attention')
export class AttentionController {
  constructor(private readonly attention: Attention) {}

  @Get()
  @Auth({ kinds: ['user', 'api_key'], scope: 'tasks:read' })
  @ApiOperation({
    operationId: 'getAttention',
    summary: 'Count what needs attention: failures, questions, reviews, budgets, agents, webhooks',
  })
  @ApiOkResponse({ type: AttentionDto })
  counts(@CurrentCaller() caller: Caller) {
    return this.attention.counts(caller);
  }
}
