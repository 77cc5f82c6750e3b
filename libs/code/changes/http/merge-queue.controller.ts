import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { MergeQueue } from '../queue/merge-queue.js';
import { MergeQueueDto, MergeQueueQuery } from './merge-queue.dto.js';

@ApiTags('Changes')
@Controller('changes/merge-queue')
export class MergeQueueController {
  constructor(private readonly queue: MergeQueue) {}

  @Get()
  @Auth({ scope: 'tasks:read' })
  @ApiOperation({
    operationId: 'getMergeQueue',
    summary: 'Get the merge queue of each branch: order, status, obstacle, host and expected time',
  })
  @ApiOkResponse({ type: MergeQueueDto })
  @ApiErrors('validation_failed', 'repository_not_found')
  get(@CurrentCaller() caller: Caller, @Query() { repositoryId }: MergeQueueQuery) {
    return this.queue.read(caller, repositoryId);
  }
}
