import { countryOf, type IcsrCase } from './case';
import { country, list } from './codes';
import { type Element, el } from './xml';

const by = (...entity: (Element | undefined)[]) =>
  el(
    'controlActEvent',
    { classCode: 'CACT', moodCode: 'EVN' },
    el('author', { typeCode: 'AUT' }, el('assignedEntity', { classCode: 'ASSIGNED' }, ...entity)),
  );

/** C.2.r and C.1.8.2: another report from which this one comes. */
const source = (code: '1' | '2', displayName: string, act: Element, priority?: Element) =>
  el(
    'outboundRelationship',
    { typeCode: 'SPRT' },
    priority,
    el(
      'relatedInvestigation',
      { classCode: 'INVSTG', moodCode: 'EVN' },
      el('code', { code, codeSystem: list(22), displayName }),
      el('subjectOf2', { typeCode: 'SUBJ' }, act),
    ),
  );

/** C.2.r: the reporter, whose name is masked and whose qualification is not known. */
function reporter(report: IcsrCase) {
  const where = countryOf(report);
  return el(
    'assignedPerson',
    { classCode: 'PSN', determinerCode: 'INSTANCE' },
    el('name', {}, el('given', { nullFlavor: 'MSK' }), el('family', { nullFlavor: 'MSK' })),
    el('asQualifiedEntity', { classCode: 'QUAL' }, el('code', { nullFlavor: 'UNK' })),
    where
      ? el(
          'asLocatedEntity',
          { classCode: 'LOCE' },
          el('location', { classCode: 'COUNTRY', determinerCode: 'INSTANCE' }, country(where)),
        )
      : undefined,
  );
}

/** C.1.8.2 and C.2.r: the first sender, which is no regulator, and the reporter. */
export const sources = (report: IcsrCase) => [
  source('1', 'initialReport', by(el('code', { code: '2', codeSystem: list(3) }))),
  source('2', 'sourceReport', by(reporter(report)), el('priorityNumber', { value: '1' })),
];

/** C.3: the sender, of another kind than those of the list. */
export const sender = () =>
  el(
    'subjectOf1',
    { typeCode: 'SUBJ' },
    by(
      el('code', { code: '6', codeSystem: list(7) }),
      el(
        'representedOrganization',
        { classCode: 'ORG', determinerCode: 'INSTANCE' },
        el(
          'assignedEntity',
          { classCode: 'ASSIGNED' },
          el(
            'representedOrganization',
            { classCode: 'ORG', determinerCode: 'INSTANCE' },
            el('name', {}, 'Daawo'),
          ),
        ),
      ),
    ),
  );
