import { type Criterion, criteria } from '@desk/lib/case';
import { countryOf, type IcsrCase } from './case';
import { choice, country, identifier, limited, list, observed, trueOrUnknown } from './codes';
import { type Element, el } from './xml';

const observation = (...children: (Element | undefined)[]) =>
  el('observation', { classCode: 'OBS', moodCode: 'EVN' }, ...children);

const about = (child: Element) => el('subjectOf2', { typeCode: 'SBJ' }, child);

/** E.i.3.2: the criteria of seriousness, with their codes and names. */
const seriousness: Record<Criterion, [code: string, name: string]> = {
  death: ['34', 'resultsInDeath'],
  life_threatening: ['21', 'isLifeThreatening'],
  hospital: ['33', 'requiresInpatientHospitalization'],
  disability: ['35', 'resultsInPersistentOrSignificantDisability'],
  congenital: ['12', 'congenitalAnomalyBirthDefect'],
  important: ['26', 'otherMedicallyImportantCondition'],
};

/** E.i.1.1a has at most 250 characters. */
const maxReaction = 250;

const related = (...children: Element[]) =>
  el('outboundRelationship2', { typeCode: 'PERT' }, observation(...children));

/** E.i: the reaction in the person's words. It has no MedDRA term: a person has to code it. */
function reaction(report: IcsrCase) {
  const where = countryOf(report);
  return observation(
    el('id', { root: report.id }),
    observed('29', 'reaction'),
    el('effectiveTime', { 'xsi:type': 'IVL_TS' }, el('low', { nullFlavor: 'NASK' })),
    el(
      'value',
      { 'xsi:type': 'CE', nullFlavor: 'NI', codeSystem: '2.16.840.1.113883.6.163' },
      el(
        'originalText',
        { language: report.language === 'so' ? 'som' : 'eng' },
        limited(report.words, maxReaction),
      ),
    ),
    where
      ? el(
          'location',
          { typeCode: 'LOC' },
          el(
            'locatedEntity',
            { classCode: 'LOCE' },
            el('locatedPlace', { classCode: 'COUNTRY', determinerCode: 'INSTANCE' }, country(where)),
          ),
        )
      : undefined,
    ...criteria.map((criterion) =>
      related(
        observed(...seriousness[criterion]),
        trueOrUnknown(report.seriousness?.includes(criterion) ?? false),
      ),
    ),
    related(observed('27', 'outcome'), choice('0', 11)), // E.i.7: unknown
  );
}

/** G.k: the product, with its batch. The id names it for the assessment. */
function product(report: IcsrCase, id: string) {
  const kind = { classCode: 'MMAT', determinerCode: 'KIND' };
  return el(
    'organizer',
    { classCode: 'CATEGORY', moodCode: 'EVN' },
    el('code', { code: '4', codeSystem: list(20), displayName: 'drugInformation' }),
    el(
      'component',
      { typeCode: 'COMP' },
      el(
        'substanceAdministration',
        { classCode: 'SBADM', moodCode: 'EVN' },
        el('id', { root: id }),
        el(
          'consumable',
          { typeCode: 'CSM' },
          el(
            'instanceOfKind',
            { classCode: 'INST' },
            el('kindOfProduct', kind, el('name', {}, report.product_name)),
          ),
        ),
        report.batch_number ? batch(report.batch_number) : undefined,
      ),
    ),
  );
}

/** G.k.4.r.7: the batch, in an administration whose time is not known. */
function batch(number: string) {
  return el(
    'outboundRelationship2',
    { typeCode: 'COMP' },
    el(
      'substanceAdministration',
      { classCode: 'SBADM', moodCode: 'EVN' },
      el('effectiveTime', { nullFlavor: 'NASK' }),
      el(
        'consumable',
        { typeCode: 'CSM' },
        el(
          'instanceOfKind',
          { classCode: 'INST' },
          el(
            'productInstanceInstance',
            { classCode: 'MMAT', determinerCode: 'INSTANCE' },
            el('lotNumberText', {}, limited(number, 35)),
          ),
        ),
      ),
    ),
  );
}

/** D, E and G: the person, whose name is masked, the reaction, and the product. */
export function patient(report: IcsrCase, productId: string): Element {
  return el(
    'subject1',
    { typeCode: 'SBJ' },
    el(
      'primaryRole',
      { classCode: 'INVSBJ' },
      el(
        'player1',
        { classCode: 'PSN', determinerCode: 'INSTANCE' },
        el('name', { nullFlavor: 'MSK' }),
        el('administrativeGenderCode', { nullFlavor: 'NASK' }),
        el('birthTime', { nullFlavor: 'NASK' }),
      ),
      about(reaction(report)),
      about(product(report, productId)),
    ),
  );
}

/** G.k.1: the product is suspected. */
export function suspicion(productId: string): Element {
  return el(
    'component',
    { typeCode: 'COMP' },
    el(
      'causalityAssessment',
      { classCode: 'OBS', moodCode: 'EVN' },
      observed('20', 'interventionCharacterization'),
      choice('1', 13),
      el(
        'subject2',
        { typeCode: 'SUBJ' },
        el('productUseReference', { classCode: 'SBADM', moodCode: 'EVN' }, el('id', { root: productId })),
      ),
    ),
  );
}

export const caseId = (number: 1 | 2, extension: string) => el('id', { extension, root: identifier(number) });
