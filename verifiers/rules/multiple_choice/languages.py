"""Sentences that are nothing but "so the right answer is C", in languages whose words for an answer stand nowhere else here.

All have one form, so that only words differ:

    [so] [the] [right] answer [right] is|: [the] [option] C [it is]

Words for right and final may stand there, and no others: "la respuesta incorrecta es C" is no such sentence.
"""

from typing import Final

from verifiers.sightings import Scan

_SO: Final = (
    "entonces|por (?:lo )?tanto|así que|luego|portanto|logo|assim|então|donc|ainsi|par conséquent|quindi|dunque|pertanto|perciò"
    "|daher|somit|folglich|deshalb|dus|daarom|alltså|därför|altså|derfor|siis|joten|zatem|więc|a więc|dlatego|tedy|proto|tehát|deci|prin urmare"
    "|yani|dolayısıyla|bu nedenle|sonuç olarak|vậy|do đó|vì vậy|vì thế|như vậy|jadi|maka|dengan demikian|oleh karena itu"
    "|итак|значит|следовательно|поэтому|таким образом|отже|тому|άρα|επομένως|συνεπώς|לכן|إذن|لذلك|لذا|وبالتالي|بنابراین|پس"
    "|よって|したがって|従って|ゆえに|따라서|그러므로|그래서|(?:vậy )?chọn|इसलिए|अतः|তাই|সুতরাং|ดังนั้น"
)
_THE: Final = "la |el |il |le |l['’]|a |o |as |os |die |der |das |de |het |den |det |az |η |ο |το |ה"
_ANSWER: Final = (
    "respuesta|solución|opción|alternativa|clave|resposta|solução|opção|gabarito|letra|réponse|solution|proposition|risposta|soluzione"
    "|opzione|option|antwort|lösung|antwortmöglichkeit|antwoord|oplossing|optie|svar(?:et)?|lösning(?:en)?|løsning(?:en)?|alternativ(?:et)?"
    "|vastaus|ratkaisu|vaihtoehto|odpowied(?:ź|zią)|opcja|rozwiązanie|odpověď|odpovědí|možnost|řešení|odpoveď|odpoveďou|válasz|megoldás"
    "|r[ăa]spuns(?:ul)?|varianta|cevap|cevabı|yanıt|yanıtı|seçenek|şık|đáp án|(?:câu )?trả lời|phương án|lựa chọn|(?:kunci )?jawaban(?:nya)?|jawapan(?:nya)?"
    "|pilihan|ответ(?:ом)?|вариант|решение|відповід(?:ь|дю)|варіант|отговор(?:ът)?|odgovor|одговор|απάντηση|λύση|επιλογή|ה?תשובה|ה?פתרון"
    "|(?:ال)?جواب|(?:ال)?إجابة|الاجابة|(?:ال)?خيار|(?:ال)?حل|پاسخ|گزینه|उत्तर|जवाब|विकल्प|উত্তর|คำตอบ(?:สุดท้าย)?|sagot|atsakymas|atbilde|vastus|jibu|பதில்|விடை|సమాధానం|జవాబు|正解|正答|解答|正しい(?:選択肢|答え)|答|정답|답|key|response|selection|ans|output|decision|prediction"
)
_RIGHT: Final = (
    "final|finale|correct[aoe]?|corrette?|corretta|corret[ao]|correcte|exact[ao]|exacte|esatta|giusta|cert[ao]|bonne|juste|verdadera|adecuada"
    "|richtige?|korrekte?|endgültige|beste|juiste?|correcte|goede|definitieve|uiteindelijke|rätta?|korrekta?|slutgiltiga|rigtige?|riktige?|endelige"
    "|oikea|lopullinen|poprawn[aą]|prawidłow[aą]|właściw[aą]|ostateczn[aą]|správn(?:á|ou)|konečná|správna|helyes|végső|corect[ăa]?|finală|doğru|nihai"
    "|đúng(?: nhất)?|chính xác|cuối cùng|(?:yang )?(?:benar|tepat|betul)|akhir|правильн(?:ый|ая|ым)|верн(?:ый|ая|ым)|окончательный|итоговый|правильна|вірна"
    "|правильний|правилният|верният|верен|točan|ispravan|тачан|σωστή|ορθή|τελική|ה?נכונה|ה?סופית|(?:ال)?صحيحة?|(?:ال)?نهائية?|صحیح|درست|نهایی|सही|अंतिम|সঠিক"
    "|ที่ถูกต้อง(?:ที่สุด)?|ที่ถูก"
)
_IS: Final = "es|é|è|est|ist|lautet|wäre|is|är|er|on|to|jest|brzmi|je|zní|znie|este|e|là|adalah|ialah|yaitu|это|является|це|є|είναι|היא|הוא|זה|هو|هي"
_PARTICLE: Final = "คือ|은|는|は"
_BEHIND: Final = "['’](?:dir|dır|dur|dür|tir|tır)|(?:seçeneğidir|şıkkıdır|seçeneği|şıkkı)|است|है|হল|হলো|ist|richtig|번?(?:입니다|이다)|です|だ|である|と?なります|となる|になります"
"""With what a sentence ends whose verb comes last."""
_LABEL_NOUN: Final = (
    "(?:la |el |il |le |l['’]|a |o |die |der |das |de |az )?(?:(?:opción|alternativa|letra|opção|réponse|option|proposition|lettre|opzione|lettera"
    "|antwort|optie|odpowiedź|możliwość|možnost|varianta|seçenek|phương án|đáp án|câu|pilihan|вариант|варіант|η επιλογή|επιλογή|אפשרות|الخيار|گزینه|विकल्प|ข้อ) ?)?"
)
_IT_IS: Final = r"(?:c['’]est|es\sist|es|het\sis|det\sär|to\sjest|je\sto|è|é)"
_COLON: Final = "[:：=—–]|-(?= )"


def _spaced(words: str) -> str:
    return words.replace(" ", r"\s")


def lead() -> str:
    """An expression for all of it that stands before an option: "so the right answer is"."""
    return rf"{_about()}{_told()}{_spaced(_LABEL_NOUN)}"


def sentences(option: str, ends: str) -> tuple[str, ...]:
    """Expressions for such whole sentences; `option` and `ends` are expressions for an option and what may follow it."""
    so, the, right, answer, behind, noun = map(_spaced, (_SO, _THE, _RIGHT, _ANSWER, _BEHIND, _LABEL_NOUN))
    it_is = rf"{_IT_IS}(?:\s(?:donc|also|dus|alltså|quindi|portanto|entonces))?\s"
    return (
        rf"{lead()}{option}(?:\s?(?:{behind}))?{ends}",
        rf"{_about()}\s{noun}{option}\s?(?:{behind}){ends}",
        rf"(?:(?:{so}),?\s?)?(?:{the})?(?:{right})\s(?:{answer})\s{noun}{option}{ends}",
        rf"(?:(?:(?:{so}),?\s)?{it_is}|(?:{so})(?:,?\s|[、，])){noun}{option}{ends}",
        rf"(?:(?:{so})\sist\s(?:die|das)\s(?:{right})\s(?:{answer})|(?:so\s|somit\s|also\s)?richtig\sist)\s{noun}{option}{ends}",
    )


def _about() -> str:
    so, the, answer, right = map(_spaced, (_SO, _THE, _ANSWER, _RIGHT))
    return rf"(?:(?:{so}),?\s?)?(?:{the})?(?:(?:{right})\s){{0,2}}(?:{answer})(?:\s?(?:{right})){{0,2}}[*_]{{0,2}}"


def _told() -> str:
    return rf"(?:\s?(?:{_COLON})|\s?(?:(?:{_spaced(_IS)})(?![^\W_])|{_PARTICLE})[*_]{{0,2}}[:：]?)[*_\s]{{0,4}}"


NAMES_ANSWER: Final = Scan(f"(?i){_spaced(_ANSWER)}")
"""A word for an answer: there is one in each `lead`."""
MAY_SAY: Final = Scan(rf"(?i){_spaced(_ANSWER)}|(?:\A|[^\pL])(?:(?:{_spaced(_SO)})[,\s、，]|{_IT_IS}\s)|richtig\sist")
"""That, or another word that is in each of `sentences`."""
