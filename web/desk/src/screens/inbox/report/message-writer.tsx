import type { Report } from '@desk/backend/reports';
import { attempt } from '@desk/components/attempt';
import { Button, linkButton } from '@desk/components/button';
import { ConfirmDialog } from '@desk/components/confirm-dialog';
import { dense, Field } from '@desk/components/field';
import { useText } from '@desk/i18n/language';
import { isUnchanged, messageOf, type Template, templateNames } from '@desk/i18n/message-templates';
import { smsLink, whatsappLink } from '@desk/lib/contact';
import { useState } from 'react';
import { NativeSelect, Textarea } from '@/components/ui/input';
import { type Language, languageNames, languages } from '@/i18n/language';

/** A message that is not sent yet. */
export interface Message {
  template: Template | null;
  language: Language;
  body: string;
}

interface Props {
  report: Report;
  number: string;
  message: Message | null; // null until the member begins
  onChange: (message: Message) => void;
}

/** A message from a template, which the member changes, and then copies or opens in another program. */
export function MessageWriter({ report, number, message, onChange }: Props) {
  const text = useText();
  const [asked, ask] = useState<Message>();
  const { template, language, body } = message ?? { template: null, language: report.language, body: '' };
  /** Begins with a template. The member's own words are not replaced without a question. */
  const begin = (name: Template, into: Language) => {
    const next = { template: name, language: into, body: messageOf(name, into, report.reference) };
    if (isUnchanged(body, report.reference)) onChange(next);
    else ask(next);
  };
  return (
    <div className="no-print mt-3 flex flex-col gap-3 border-t pt-3">
      <div className="flex flex-wrap gap-3">
        <Field label={text.contact.template} className="min-w-48 flex-1">
          {(props) => (
            <NativeSelect
              {...props}
              className={dense}
              value={template ?? ''}
              onChange={(e) => begin(e.target.value as Template, language)}
            >
              <option value="" disabled>
                {text.contact.choose}
              </option>
              {templateNames.map((name) => (
                <option key={name} value={name}>
                  {text.contact.templates[name]}
                </option>
              ))}
            </NativeSelect>
          )}
        </Field>
        <Field label={text.report.languageLabel}>
          {(props) => (
            <NativeSelect
              {...props}
              className={dense}
              value={language}
              onChange={(e) => {
                const into = e.target.value as Language;
                if (template) begin(template, into);
                else onChange({ template, language: into, body });
              }}
            >
              {languages.map((name) => (
                <option key={name} value={name}>
                  {languageNames[name]}
                </option>
              ))}
            </NativeSelect>
          )}
        </Field>
      </div>
      <Field label={text.contact.message}>
        {(props) => (
          <Textarea
            {...props}
            rows={4}
            lang={language}
            maxLength={1000}
            value={body}
            onChange={(e) => onChange({ template, language, body: e.target.value })}
          />
        )}
      </Field>
      <p className="text-muted-foreground text-sm">{text.contact.help}</p>
      {body.trim() && (
        <div className="flex flex-wrap gap-2">
          <a
            className={linkButton}
            href={whatsappLink(number, body)}
            target="_blank"
            rel="noopener noreferrer"
          >
            {text.contact.openWhatsapp}
          </a>
          <a className={linkButton} href={smsLink(number, body)}>
            {text.contact.openSms}
          </a>
          <Button
            variant="outline"
            onClick={() => attempt(text, () => navigator.clipboard.writeText(body), text.contact.copied)}
          >
            {text.contact.copy}
          </Button>
        </div>
      )}
      {asked && (
        <ConfirmDialog
          title={text.contact.replaceTitle}
          help={text.contact.replaceHelp}
          action={text.contact.replace}
          onClose={() => ask(undefined)}
          onConfirm={() => {
            onChange(asked);
            ask(undefined);
          }}
        />
      )}
    </div>
  );
}
