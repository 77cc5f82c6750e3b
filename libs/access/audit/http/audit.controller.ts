import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import { type Caller, idOfCursor } from '#lib/kernel';
import { AuditLog } from '../log/audit-log.js';
import { AuditEntryPageDto, AuditQuery } from './audit.dto.js';

@ApiTags('Audit')
@Controller('audit-log')
@Auth({ role: 'ADMIN', scope: 'workspace:admin' })
export class AuditController {
  constructor(private readonly auditLog: AuditLog) {}

  @Get()
  @ApiOperation({
    operationId: 'listAuditEntries',
    summary: 'List audit entries, the newest first',
    description:
      'The log keeps changing requests that succeeded, and the first request of a caller, operation ' +
      'and address in ten minutes that was refused with 403. The logs and events of tasks keep the history of tasks.',
  })
  @ApiOkResponse({ type: AuditEntryPageDto })
  @ApiErrors('validation_failed', 'malformed_cursor')
  list(@CurrentCaller() caller: Caller, @Query() { limit, cursor, ...filter }: AuditQuery) {
    return this.auditLog.list(caller, filter, { limit, before: idOfCursor(cursor) });
  }
}
