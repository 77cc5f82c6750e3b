import { ApiProperty } from '@nestjs/swagger';

export class UserDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty() email!: string;
  @ApiProperty() name!: string;
  @ApiProperty() isOperator!: boolean;
  @ApiProperty({ type: Date, nullable: true }) disabledAt!: Date | null;
  @ApiProperty() version!: number;
  @ApiProperty() createdAt!: Date;
  @ApiProperty() updatedAt!: Date;
}

export class NewUserDto extends UserDto {
  @ApiProperty({
    required: false,
    description: 'The generated password, if the request has none. Only this answer shows it.',
  })
  generatedPassword?: string;
}

export class UserPageDto {
  @ApiProperty({ type: [UserDto] }) items!: UserDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}

export class NewPasswordDto {
  @ApiProperty({ format: 'uuid' }) userId!: string;
  @ApiProperty({ description: 'Only this answer shows it.' }) generatedPassword!: string;
}
