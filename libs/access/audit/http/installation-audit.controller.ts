import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors } from '#lib/http';
import { Auth } from '#lib/identity';
import { idOfCursor } from '#lib/kernel';
import { InstallationLog } from '../log/installation-log.js';
import { InstallationEntryPageDto, InstallationAuditQuery } from './installation-audit.dto.js';

@ApiTags('Audit')
@Controller('installation/audit-log')
@Auth({ workspace: false, operator: true })
export class InstallationAuditController {
  constructor(private readonly log: InstallationLog) {}

  @Get()
  @ApiOperation({
    operationId: 'listInstallationAuditEntries',
    summary: 'List audit entries of the installation, the newest first (operators)',
    description:
      'The log keeps what operators change, sign-ins, sign-outs, and refused requests of all ' +
      'workspaces.',
  })
  @ApiOkResponse({ type: InstallationEntryPageDto })
  @ApiErrors('validation_failed', 'malformed_cursor')
  list(@Query() { limit, cursor, ...filter }: InstallationAuditQuery) {
    return this.log.list(filter, { limit, before: idOfCursor(cursor) });
  }
}
