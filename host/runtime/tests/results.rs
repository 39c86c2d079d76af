mod common;
use common::fixture::Fixture;

#[test]
fn happy() {
    let interpreter = common::interpreter(&Fixture::interpreter());
    println!("{:?}", interpreter.info());
    println!(
        "{:?}",
        interpreter.interpret(&common::observation(b"{}"), None)
    );
    println!("{:?}", interpreter.decode(&common::observation(b"{}")));
    let c = runtime::compile(&Fixture::policy().build()).unwrap();
    let p = common::sandbox(common::limits()).policy(&c).unwrap();
    println!("{:?}", p.info());
}
